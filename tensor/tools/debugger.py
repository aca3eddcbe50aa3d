"""Shows tensors in gdb and lldb: shape, strides and the first values in row-major order, whatever the strides.

gdb:   source tensor/tools/debugger.py
lldb:  command script import tensor/tools/debugger.py
"""

MOST = 12  # values shown


def describe(lengths, strides, read):
    """`read(n)` gives the number n places behind the tensor's first."""
    size = 1
    for length in lengths:
        size *= length
    values = []
    for number in range(min(size, MOST)):
        place, rest = 0, number
        for length, stride in reversed(list(zip(lengths, strides))):
            place += rest % length * stride
            rest //= length
        values.append("%.4g" % read(place))
    more = ", ..." if size > MOST else ""
    return "Tensor %s strides %s: %s%s" % (list(lengths), list(strides), ", ".join(values), more)


def in_gdb(gdb):
    def shape(value):
        elements = value["lengths_"]["_M_elems" if value["lengths_"].type.fields()[0].name == "_M_elems" else "__elems_"]
        return [int(elements[axis]) for axis in range(int(value["rank_"]))]

    def pointee(pointer):
        names = {field.name for base in [pointer.type] + [f.type for f in pointer.type.fields()] for field in base.fields()}
        return pointer["_M_ptr" if "_M_ptr" in names else "__ptr_"].dereference()

    class TensorPrinter:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            layout = pointee(self.value["layout_"])
            data = pointee(self.value["storage_"])["data"] + int(layout["offset"])
            return describe(shape(layout["shape"]), shape(layout["strides"]), lambda n: float(data[n]))

    class ShapePrinter:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            return "Shape %s" % shape(self.value)

    printers = gdb.printing.RegexpCollectionPrettyPrinter("segue")
    printers.add_printer("Tensor", "^segue::Tensor$", TensorPrinter)
    printers.add_printer("Shape", "^segue::Shape$", ShapePrinter)
    gdb.printing.register_pretty_printer(gdb.current_objfile(), printers, replace=True)


def lldb_shape(value):
    rank = value.GetChildMemberWithName("rank_").GetValueAsSigned()
    lengths = value.GetChildMemberWithName("lengths_").GetNonSyntheticValue().GetChildAtIndex(0)
    return [lengths.GetChildAtIndex(axis).GetValueAsSigned() for axis in range(rank)]


def lldb_pointee(tensor, name):
    pointer = tensor.GetChildMemberWithName(name).GetNonSyntheticValue()
    target = pointer.GetChildMemberWithName("_M_ptr")
    if not target.IsValid():
        target = pointer.GetChildMemberWithName("__ptr_")
    return target.Dereference()


def lldb_tensor(value, _):
    value = value.GetNonSyntheticValue()
    layout = lldb_pointee(value, "layout_")
    data = lldb_pointee(value, "storage_").GetChildMemberWithName("data")
    number = data.GetType().GetPointeeType()
    start = data.GetValueAsUnsigned() + number.GetByteSize() * layout.GetChildMemberWithName("offset").GetValueAsSigned()

    def read(place):
        return float(value.CreateValueFromAddress("x", start + place * number.GetByteSize(), number).GetValue())

    shape, strides = layout.GetChildMemberWithName("shape"), layout.GetChildMemberWithName("strides")
    return describe(lldb_shape(shape.GetNonSyntheticValue()), lldb_shape(strides.GetNonSyntheticValue()), read)


def __lldb_init_module(debugger, _):
    debugger.HandleCommand('type summary add -F %s.lldb_tensor segue::Tensor' % __name__)


try:
    import gdb
    import gdb.printing

    in_gdb(gdb)
except ImportError:
    pass  # lldb calls __lldb_init_module
