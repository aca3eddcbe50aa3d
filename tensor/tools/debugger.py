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

    class TensorPrinter:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            pointer = self.value["storage_"]
            names = {field.name for base in [pointer.type] + [f.type for f in pointer.type.fields()] for field in base.fields()}
            storage = pointer["_M_ptr" if "_M_ptr" in names else "__ptr_"]
            data = storage["data"] + int(self.value["offset_"])
            return describe(shape(self.value["shape_"]), shape(self.value["strides_"]), lambda n: float(data[n]))

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


def lldb_tensor(value, _):
    value = value.GetNonSyntheticValue()
    pointer = value.GetChildMemberWithName("storage_").GetNonSyntheticValue()
    storage = pointer.GetChildMemberWithName("_M_ptr")
    if not storage.IsValid():
        storage = pointer.GetChildMemberWithName("__ptr_")
    data = storage.Dereference().GetChildMemberWithName("data")
    number = data.GetType().GetPointeeType()
    start = data.GetValueAsUnsigned() + number.GetByteSize() * value.GetChildMemberWithName("offset_").GetValueAsSigned()

    def read(place):
        return float(value.CreateValueFromAddress("x", start + place * number.GetByteSize(), number).GetValue())

    shape, strides = value.GetChildMemberWithName("shape_"), value.GetChildMemberWithName("strides_")
    return describe(lldb_shape(shape.GetNonSyntheticValue()), lldb_shape(strides.GetNonSyntheticValue()), read)


def __lldb_init_module(debugger, _):
    debugger.HandleCommand('type summary add -F %s.lldb_tensor segue::Tensor' % __name__)


try:
    import gdb
    import gdb.printing

    in_gdb(gdb)
except ImportError:
    pass  # lldb calls __lldb_init_module
