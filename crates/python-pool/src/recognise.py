# Which text is free Python: what may be asked of a text without executing it.

import ast
import builtins
import importlib
import re
import symtable
import sys

TEXT = "<program>"
ENTRIES = ("transform", "solve", "main", "p", "generate_puzzle_output", "program", "solution")
# How much a name says that a function is the program, as the engine judges the functions of the DSL, too (`entry.rs`).
ENTRY, BEGINS, OTHER = 2, 1, 0
# Modules of the DSL: what imports them is the DSL's.
DSL_MODULES = {"dsl", "constants", "arc_types"}
FUNCTIONS = (ast.FunctionDef, ast.Lambda)
BUILTINS = {*dir(builtins), "__builtins__"}


class NoProgram(Exception):
    def __init__(self, line, reason):
        self.line, self.reason = line, reason


def answer(tries, entry, given):
    """The first program of some lists of blocks, each of which is (lines before it, code)."""
    missing = NoProgram(1, "no code")
    for blocks in tries:
        try:
            return last_of(blocks, entry, given)
        except NoProgram as error:
            # Without blocks, more is known of a text that is Python as a whole.
            if blocks or not isinstance(missing, NoEntry):
                missing = error
    raise missing


def last_of(blocks, entry, given):
    """The program in the last block that has an entry, together with the blocks before it if it needs them. A function that is
    called as entries are goes before others, in whatever block."""
    missing = NoProgram(1, "no code")
    for least in (ENTRY, BEGINS, OTHER):
        for at in reversed(range(len(blocks))):
            try:
                return read([blocks[at]], entry, given, least)
            except NoEntry as error:
                missing = error
            except Unbound:
                return read(blocks[: at + 1], entry, given, least)
            except NoProgram as error:
                missing = error
                if "def " in blocks[at][1] or "lambda" in blocks[at][1]:
                    raise
    raise missing


class NoEntry(NoProgram):
    pass


class Unbound(NoProgram):
    pass


def read(blocks, entry, given, least):
    """The tree of some blocks, the name of the function to call, and what names are bound to."""
    text = ""
    for before, code in blocks:
        # Lines are those of the text.
        text += "\n" * (before - text.count("\n")) + code + "\n"
    try:
        tree = ast.parse(text, TEXT)
        table = symtable.symtable(text, TEXT, "exec")
    except SyntaxError as error:
        raise NoProgram(error.lineno or 1, f"not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NoProgram(1, f"not Python: {str(error) or type(error).__name__}") from None
    for node in ast.walk(tree) if any(module in text for module in DSL_MODULES) else ():
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [getattr(node, "module", None) or ""]
        if isinstance(node, ast.Import | ast.ImportFrom) and DSL_MODULES & {n.partition(".")[0] for n in names}:
            raise NoProgram(node.lineno, "it imports the DSL, as no free Python does")
    definitions = defined(tree)
    name = chosen(tree, definitions, table, entry, least)
    check_names(tree, table, definitions, name, given)
    return tree, name, definitions


def defined(tree):
    """What top-level names are bound to, in the order of their last statements."""
    definitions = {}
    for node in tree.body:
        names = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names, value = [node.name], node
        elif isinstance(node, ast.Assign):
            names, value = [target.id for target in node.targets if isinstance(target, ast.Name)], node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            names, value = [node.target.id], node.value
        for name in names:
            definitions.pop(name, None)
            definitions[name] = (node, value)
    return definitions


def resolved(definitions, name):
    """The function that a name stands for, or None."""
    seen = set()
    while name in definitions and name not in seen:
        seen.add(name)
        value = definitions[name][1]
        if isinstance(value, FUNCTIONS):
            return value
        name = value.id if isinstance(value, ast.Name) else None
    return None


def parameters(function):
    return function.args.posonlyargs + function.args.args


def rank(name):
    if re.sub(r"(_?_v|_)?[0-9]*$", "", name) in ENTRIES:
        return ENTRY
    begins = name.startswith(("solve", "transform", "program", "main", "p_"))
    has_id = re.search(r"(^|_)[0-9a-fA-F]{8}$", name)
    if name.startswith("verify") or not (begins or has_id):
        return OTHER
    return ENTRY if has_id else BEGINS


def chosen(tree, definitions, table, entry, least):
    """The name of the function that turns an input into an output."""
    takes_one, requires_one = [], []
    for name in definitions:
        function = resolved(definitions, name)
        if function is None:
            continue
        args = function.args
        required = len(parameters(function)) - len(args.defaults)
        keywords = [default for default in args.kw_defaults if default is None]
        if not keywords and required <= 1 and (parameters(function) or args.vararg):
            takes_one.append(name)
            if required == 1:
                requires_one.append(name)
    if entry is not None:
        if entry in takes_one:
            return entry
        raise NoEntry(1, f"no function `{entry}` of one argument")
    named = [name for name in takes_one if rank(name) == ENTRY]
    if named:
        return named[-1]
    called = {name for inner in below(table) if inner is not table for name in globals_read(inner)}
    alone = [name for name in requires_one if name not in called]
    begin = [name for name in alone if rank(name) == BEGINS]
    alone = begin or alone
    if len(alone) != 1 or least > (BEGINS if begin else OTHER):
        for node in tree.body:
            if isinstance(node, ast.AsyncFunctionDef) and rank(node.name) == ENTRY:
                raise NoEntry(node.lineno, f"`{node.name}` is an `async def`, which gives no grid: expected `def`")
        raise NoEntry(1, "no function `transform`, nor a single one of one argument")
    return alone[0]


def below(table):
    yield table
    for inner in table.get_children():
        yield from below(inner)


def globals_of(table):
    """The globals in a scope, of which a function knows its own: that is much faster than to ask each of its names."""
    names = table.get_globals() if isinstance(table, symtable.Function) else table.get_identifiers()
    return [symbol for symbol in map(table.lookup, names) if symbol.is_global()]


def globals_read(table):
    return [symbol.get_name() for symbol in globals_of(table) if symbol.is_referenced()]


def check_names(tree, table, definitions, name, given):
    """Raises Unbound unless all global names that a function and what it calls read are bound."""
    bound = set()
    for inner in below(table):
        for symbol in table.get_symbols() if inner is table else globals_of(inner):
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                bound.add(symbol.get_name())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            bound |= names_of(node.module or "")
    todo, seen = [name], set()
    while todo:
        name = todo.pop()
        if name in seen or name not in definitions:
            continue
        seen.add(name)
        node, value = definitions[name]
        if isinstance(value, ast.Name):
            todo.append(value.id)
        for child in table.get_children():
            if not first_line(node) <= child.get_lineno() <= node.end_lineno:
                continue
            for inner in below(child):
                for each in globals_read(inner):
                    if not any(each in names for names in (bound, given, BUILTINS)):
                        raise Unbound(line_of(node, each), f"the name `{each}` is not defined")
                    todo.append(each)


def first_line(node):
    return min([node.lineno] + [each.lineno for each in getattr(node, "decorator_list", [])])


def line_of(node, name):
    return next((each.lineno for each in ast.walk(node) if getattr(each, "id", None) == name), node.lineno)


def names_of(module):
    """What `from module import *` binds. A module that cannot be imported says so when the program runs."""
    try:
        names = vars(importlib.import_module(module))
    except Exception:
        return set()
    return set(names.get("__all__", (name for name in names if not name.startswith("_"))))


ARRAYS_ONLY = {"shape", "T", "ndim", "size", "dtype", "astype", "flatten", "ravel", "reshape", "tolist", "transpose"}


def form(name, definitions):
    """Whether a function takes an array, lists or tuples: by its annotation, or else by what it does with it."""
    seen, function = set(), resolved(definitions, name)

    def is_array(function, at):
        if (function, at) in seen or at >= len(parameters(function)):
            return False
        seen.add((function, at))
        names = {parameters(function)[at].arg}

        def is_it(node):
            return isinstance(node, ast.Name) and node.id in names

        def is_copy(node):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("copy", "deepcopy"):
                node = node.args[0] if node.args else getattr(node.func, "value", node)
            return is_it(node)

        # Variables that are the same or a copy, as `g = grid` makes one.
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and is_copy(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and is_it(node.value) and node.attr in ARRAYS_ONLY:
                return True
            if isinstance(node, ast.Subscript) and is_it(node.value) and not isinstance(node.slice, ast.Slice):
                if isinstance(node.slice, ast.Tuple | ast.Compare):
                    return True
            if isinstance(node, ast.Compare) and is_it(node.left) and isinstance(node.comparators[0], ast.Constant):
                if isinstance(node.comparators[0].value, int):
                    return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called = resolved(definitions, node.func.id)
                if called and any(is_it(given) and is_array(called, at) for at, given in enumerate(node.args)):
                    return True
        return False

    annotation = parameters(function)[0].annotation if parameters(function) else None
    words = ast.unparse(annotation).lower() if annotation else ""
    for word, kind in (("ndarray", "array"), ("np.array", "array"), ("list", "list"), ("tuple", "tuple")):
        if word in words:
            return kind
    return "array" if is_array(function, 0) else "list"


# Not an identifier, so that no program has it.
STEP = "(step)"


class Counted(ast.NodeTransformer):
    """Calls a counter where a loop's body, a function, or a step of a comprehension begins."""

    def call(self, at):
        return ast.copy_location(ast.Call(ast.Name(STEP, ast.Load()), [], []), at)

    def body(self, node):
        self.generic_visit(node)
        first = node.body[0]
        has_docstring = isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str)
        node.body.insert(int(has_docstring), ast.copy_location(ast.Expr(self.call(first)), first))
        return node

    visit_For = visit_AsyncFor = visit_While = visit_FunctionDef = visit_AsyncFunctionDef = body

    def visit_Lambda(self, node):
        self.generic_visit(node)
        # The counter returns None.
        node.body = ast.BoolOp(ast.Or(), [self.call(node.body), node.body])
        return node

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.ifs.insert(0, ast.UnaryOp(ast.Not(), self.call(node.target)))
        return node


def compiled(tree, name, counts):
    if counts:
        tree = ast.fix_missing_locations(Counted().visit(tree))
    return compile(tree, name, "exec", dont_inherit=True)
