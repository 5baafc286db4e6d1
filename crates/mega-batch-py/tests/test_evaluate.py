"""Programs written by language models: found, evaluated, rewarded, counted."""

import copy
import inspect
import itertools
import json
import math
import pickle
import random
import re
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mega_batch as mb

GOOD = "def solve(I):\n    x1 = hmirror(I)\n    O = rot180(x1)\n    return O"
FENCED = f"The grid is mirrored.\n\n```python\n{GOOD}\n```\n\nIt works since `O = I` does not."
LOOP = "x1 = asobject(I)\nx2 = order(x1, first)\nx3 = product(x2, x2)\nx4 = product(x3, x3)\nO = size(x4)"

FOUND: list[tuple[str, str]] = [
    ("O = vmirror(I)", "vmirror(I)"),
    (GOOD, "rot180(x1)"),
    (FENCED, "rot180(x1)"),
    (FENCED.replace("```python", "~~~~").replace("```", "~~~~"), "rot180(x1)"),
    (f"```py\n{GOOD}", "rot180(x1)"),
    ("1. First\n   ```\n   O = vmirror(I)\n   ```\n", "vmirror(I)"),
    ("Try this:\n```\nO = hmirror(I)\n```\nNo, better:\n```\nO = vmirror(I)\n```\nDone.", "vmirror(I)"),
    ("```\nO = vmirror(I)\n```\nIt prints\n```text\n2 1\n```", "vmirror(I)"),
    ("```\nO = vmirror(I)\n```\nor\n```\nO = nothing(I)\n```", "vmirror(I)"),
    ("def a(I):\n    return hmirror(I)\n\ndef b(I):\n    return vmirror(I)", "vmirror(I)"),
    ("def a(I):\n    return vmirror(I)\n\ndef b(I):\n    return nothing(I)", "vmirror(I)"),
    ("```\ndef twice(g):\n    return vmirror(g)\n```\nand\n```\ndef solve(I):\n    return twice(I)\n```", "vmirror(I)"),
    ("Here is what I think.\nO = vmirror(I)\nThat is all, since a = b.", "vmirror(I)"),
    ("Sure!\n\nfrom dsl import *\n\ndef solve(I):\n    # mirrored\n\n    return vmirror(\nI\n)\n\nThis mirrors.", "vmirror(I)"),
    ("<think>\nO = hmirror(I)?\n</think>\nx1 = vmirror(I)\nO = identity(x1)", "identity(x1)"),
    ("\ud83d mirrored\n```\nO = vmirror(I)\n```", "vmirror(I)"),
    ("Windows\r\n```python\r\nO = vmirror(I)\r\n```\r\n", "vmirror(I)"),
    # Tags, ends of messages, list markers and labels are not code.
    ("<answer>O = vmirror(I)</answer>", "vmirror(I)"),
    ("<think>O = I? No.</think><answer>\nx = vmirror(I)\nO = identity(x)</answer><|im_end|>", "identity(x)"),
    (f"<think>\n`O = I`?\n</think>\n<answer>```python\n{GOOD}\n```</answer>", "rot180(x1)"),
    (f"<answer>\n```python\n{GOOD}\n</answer>", "rot180(x1)"),
    (f"1. ```python\n   {GOOD}\n   ```\n2. Done".replace("\n    ", "\n       "), "rot180(x1)"),
    (f"1. ```python\n{GOOD.replace('    ', '  ')}\n```", "rot180(x1)"),
    (f"- My answer: ```python\n{GOOD}```\nThat is all.", "rot180(x1)"),
    ("Here it is: ```\nO = vmirror(I)\n```", "vmirror(I)"),
    ("The steps:\n1. x1 = vmirror(I)\n2. O = identity(x1)\n", "identity(x1)"),
    ("Answer: O = vmirror(I)", "vmirror(I)"),
    ("**Final answer**: O = vmirror(I)\nThat is all.", "vmirror(I)"),
    ("The answer is `O = vmirror(I)`.", "vmirror(I)"),
    # Neither thoughts nor the text around an answer are the answer.
    ("<think>try\n```python\nO = hmirror(I)\n```\nno</think>\n<answer>\nO = vmirror(I)\n</answer>", "vmirror(I)"),
    ("<think>try\n```python\nO = hmirror(I)\n```\nno</think>\nO = vmirror(I)", "vmirror(I)"),
    ("<think>try\n```python\nO = hmirror(I)\n```</think><answer>\nO = vmirror(I)\n</answer>", "vmirror(I)"),
    ("<think>The shape is \"L\"</think>\n```\nO = vmirror(I)\n```", "vmirror(I)"),
    ("<think>I end with \"</think>\" here.\n</think>\n```\nO = vmirror(I)\n```", "vmirror(I)"),
    ("The answer is $\\boxed{\\text{O = vmirror(I)}}$", "vmirror(I)"),
    ("$\\boxed{\\texttt{vmirror(I)}}$", "vmirror(I)"),
    ("It may be O = hmirror(I).\n```\nO = hmirror(I)\n```\n</think>\n`O = vmirror(I)`", "vmirror(I)"),
    ("<answer>\nO = vmirror(I)\n</answer>\n```\nO = hmirror(I)\n```\nwas my first idea", "vmirror(I)"),
    ("<|channel|>analysis<|message|>O = hmirror(I)?<|end|>\n<|channel|>final<|message|>O = vmirror(I)<|return|>", "vmirror(I)"),
    ("```\nO = vmirror(I)\n```\n<output>\n2 1\n</output>", "vmirror(I)"),
    # As Python goes on with a variable.
    ("O = hmirror(I)\nO = rot180(O)", "rot180(O)"),
    ("```\nO = canvas(ZERO, (3, 3))\nx = asobject(I)\nO = paint(O, x)\n```", "paint(O, x)"),
    ("O = hmirror(I)\nO = vmirror(I)", "vmirror(I)"),
    ("x = vmirror(I)\nreturn x", "vmirror(I)"),
    # The function with the name of an answer, not a helper or a test beside it.
    ("def solve(I):\n    return vmirror(I)\n\ndef unused(g):\n    return hmirror(g)", "vmirror(I)"),
    ("```\ndef solve(I):\n    return vmirror(I)\n\ndef verify(I):\n    return equality(solve(I), I)\n```", "vmirror(I)"),
    ("```\ndef solve(I):\n    return vmirror(I)\n```\n```\ndef show(grid):\n    return upscale(grid, 2)\n```", "vmirror(I)"),
    ("def f(I):\n    return hmirror(I)\n\nsolve = compose(vmirror, f)", "t1(I)"),
    ("solve = vmirror", "vmirror(I)"),
    # Fences of something else, steps between prose, quotes, JSON, a call alone.
    ("The grid is\n```\n1 2\n3 4\n```\nand so\nO = vmirror(I)", "vmirror(I)"),
    ("```bash\npip install it\n```\nThen `O = vmirror(I)`.", "vmirror(I)"),
    ("First:\nx1 = hmirror(I)\nThen:\nO = rot180(x1)", "rot180(x1)"),
    ("First:\n```\nx1 = hmirror(I)\n```\nThen:\n```\nO = rot180(x1)\n```", "rot180(x1)"),
    ("Step 1: x1 = hmirror(I)\nStep 2: O = rot180(x1)", "rot180(x1)"),
    ("> ```python\n> def solve(I):\n>     return vmirror(I)\n> ```", "vmirror(I)"),
    ('{"thought": "mirrored", "code": "x1 = vmirror(I)\\nO = identity(x1)"}', "identity(x1)"),
    # Tool calls, Python sessions, marks of Markdown and of formulas.
    (json.dumps({"name": "run", "arguments": {"code": GOOD}}), "rot180(x1)"),
    (json.dumps({"tool_calls": [{"function": {"arguments": json.dumps({"program": GOOD})}}]}), "rot180(x1)"),
    (json.dumps([{"code": "O = hmirror(I)"}, {"code": "O = vmirror(I)"}]), "vmirror(I)"),
    ("My answer:\n```json\n" + json.dumps({"code": GOOD}) + "\n```", "rot180(x1)"),
    (">>> " + GOOD.replace("\n", "\n... "), "rot180(x1)"),
    ("```\n>>> x1 = hmirror(I)\n>>> O = rot180(x1)\n```", "rot180(x1)"),
    ("So:\n\n**O = vmirror(I)**", "vmirror(I)"),
    ("$$O = vmirror(I)$$", "vmirror(I)"),
    ("Thus \n\\boxed{O = vmirror(I)}", "vmirror(I)"),
    ("Use `vmirror(I)`, since rows are mirrored.", "vmirror(I)"),
    ("vmirror(I)", "vmirror(I)"),
    ("It is\n```python\nhconcat(I, vmirror(I))\n```", "hconcat(I, t1)"),
    ("def solve(I):\n    x = vmirror(I)\n    print(x)\n    pass\n    return x", "vmirror(I)"),
    ("def solve(I=None):\n    return vmirror(I)", "vmirror(I)"),
    ("The answer is ```python O = vmirror(I)```, since `I` is mirrored.", "vmirror(I)"),
    ("Two steps:\n\n1. `x1 = vmirror(I)`, a mirror image;\n2. then `O = identity(x1)`.", "identity(x1)"),
]


@pytest.mark.parametrize(("text", "last"), FOUND)
def test_the_last_program_that_can_be_read_is_found(text: str, last: str) -> None:
    (evaluated,) = mb.evaluate([text], mb.Task("a", [([[1, 2]], None)]))
    assert f" {last}\n" in str(evaluated.program) and evaluated.verdict == "no_expected"
    assert evaluated.program in mb.extract_programs(text)


BAD: list[tuple[Any, int, str]] = [
    ("", 1, "no program: expected `def NAME"),
    ("I cannot do that.", 1, "expected"),
    ("Look:\n\n```python\ndef solve(I):\n    return vmiror(I)\n```", 5, "did you mean `vmirror`"),
    ("Look:\n\ndef solve(I):\n    for x in I:\n        y = x\n    return I\n\nGood.", 4, "line 4"),
    ("```\n1 2\n3 4\n```", 1, ""),
    # Code in prose or in thoughts is not the answer.
    ("<think>\n```\nO = I\n```\n</think>\n<answer>I give up</answer>", 6, "expected"),
    ("O = I</think>\nNo idea.", 2, "expected"),
    ("<think>\nO = I\nand then", 1, "expected"),
    ("```\nO = vmiror(I)\n```\nwhich is not `O = I`.", 2, "did you mean `vmirror`"),
    ("Well,\n<answer>O = vmiror(I)</answer>", 2, "did you mean `vmirror`"),
    ("1. Think\n2. `O = vmiror(I)`", 2, "did you mean `vmirror`"),
    ("O = \ud800", 1, "line 1"),
    (None, 1, "expected text, a message .* found NoneType"),
    (3, 1, "found int"),
    (b"O = I", 1, "found bytes"),
    ([], 1, "found list"),
    ([[["O = I"]]], 1, "found list"),
    ({"role": "assistant"}, 1, "found dict"),
    ({"role": "assistant", "content": None}, 1, "found NoneType"),
    ("(" * 100_000, 1, ""),
    ("\0", 1, ""),
]


@pytest.mark.parametrize(("text", "line", "reason"), BAD)
def test_bad_text_is_a_verdict_with_line_and_reason(task: mb.Task, text: Any, line: int, reason: str) -> None:
    bad, good = mb.evaluate([text, "O = vmirror(I)"], task)
    assert (bad.verdict, bad.line, bad.program, bad.score, bad.expected) == ("no_program", line, None, 0.0, 0)
    assert bad.reason and pytest.approx(good.score) == 1.0
    assert all(isinstance(found, mb.ProgramError) for found in mb.extract_programs(text))
    assert re.search(reason, bad.reason)


@pytest.mark.parametrize(
    "text",
    [
        "```python\ndef solve(I):\n    return vmiror(I)\n```\n" * 2000,
        "```\nO = vmiror(I)\n```\n" * 8000,
        "".join(f"```\ndef f{at}(I):\n    return f{at - 1}(I)\n```\n" for at in range(2000)),
        "x1 = hmirror(I)\nthat flips it\n" * 2000 + "O = nothing(x1)",
        "```\n" * 100_000,
        "<" * 100_000,
        "`O = vmiror(I)` " * 10_000,
        "> " * 50_000,
    ],
)
def test_what_repeats_itself_takes_no_more_time_than_its_length(task: mb.Task, text: str) -> None:
    # With quadratic time the suite would hang here.
    (made,) = mb.evaluate([text], task)
    assert made.verdict == "no_program"


def test_verdicts_are_of_all_pairs(task: mb.Task) -> None:
    texts = [
        FENCED, "O = hmirror(I)", "O = height(I)", "O = hsplit(I, ZERO)",
        "hm\n\nx1 = palette(I)\nO = argmax(x1, first)", LOOP,
    ]
    pair = mb.Pair(np.arange(900).reshape(30, 30) % 10, [[0]])
    tasks = [task] * 5 + [mb.Task("a", [pair])]
    made = mb.evaluate(texts, tasks, outputs=True)
    assert [each.verdict for each in made] == ["match", "mismatch", "mismatch", "error", "error", "limit"]
    assert (made[0].right, made[0].expected, made[0].score, made[0].reason, made[0].line) == (3, 3, 1.0, None, 0)
    assert made[0].verdicts == ["match"] * 3 and [output.tolist() for output in made[0].outputs] == [[[6, 5]]]  # type: ignore[union-attr]
    assert made[1].score == 0.0 and made[2].outputs == [None]
    # The line is counted in the text.
    assert made[4].line == 4 and made[4].error is not None
    assert (made[4].error.line, made[4].error.primitive, made[4].error.kind) == (4, "first", "type")
    assert made[5].error is not None and made[5].error.limit in ("steps", "elements", "memory")
    assert "match, right on 3 of 3" in repr(made[0]) and "error: line 4" in repr(made[4])
    half = mb.evaluate(["O = I"], {"train": [([[1, 2]], [[1, 0]])], "test": []})[0]
    assert (half.verdict, half.score) == ("mismatch", 0.5)


def test_verdicts_are_those_of_runs(task: mb.Task) -> None:
    largest = mb.Program.parse("x1 = objects(I, T, F, T)\nx2 = argmax(x1, size)\nO = subgrid(x2, I)")
    programs = mb.mutate(largest, 3, count=200)
    report = mb.run(programs, task, jobs="all", max_steps=100_000)
    made = mb.evaluate([str(program) for program in programs], task)
    for at, each in enumerate(made):
        results = [report[3 * at + pair] for pair in range(3)]
        assert each.verdicts == [result.verdict for result in results]
        first = next((result.error for result in results if result.error), None)
        assert (each.error is None) == (first is None)
        if each.error and first:
            assert (each.error.kind, each.error.primitive) == (first.kind, first.primitive)


def test_equal_programs_are_evaluated_once(task: mb.Task) -> None:
    told: list[tuple[int, int]] = []
    texts = ["O = vmirror(I)", "def f(I):\n    y = vmirror(I)\n    return y", "```\nO = vmirror(I)\n```", FENCED] * 50
    made = mb.evaluate(texts, task, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6) and {each.verdict for each in made} == {"match"}
    # Each has its own line numbers, whichever is evaluated.
    failing = "x1 = palette(I)\nO = argmax(x1, first)"
    lines = [each.line for each in mb.evaluate([failing, f"\n\n{failing}", "def f(I):\n\n    p = palette(I)\n\n    return argmax(p, first)"], task)]
    assert lines == [2, 4, 5]
    pair = mb.Pair(np.arange(900).reshape(30, 30) % 10, [[0]])
    copies = [LOOP.replace("x", f"v{at}_") for at in range(100)]
    made = mb.evaluate(
        copies, mb.Task("a", [pair]), max_steps=10_000_000, progress=lambda done, total: told.append((done, total))
    )
    assert {each.verdict for each in made} == {"limit"} and told[-1] == (1, 1)


def shuffled(lines: list[str], dice: random.Random) -> list[str]:
    """Steps ``x = f(...)`` in another order that respects their dependencies."""
    left, made = list(lines), list[str]()
    while left:
        names = {line.split(" = ")[0] for line in left}
        free = [line for line in left if not names & set(re.findall(r"\w+", line.split(" = ")[1]))]
        made.append(dice.choice(free))
        left.remove(made[-1])
    return made


def told_of(texts: list[str], task: mb.Task, **options: Any) -> tuple[list[mb.Evaluated], int]:
    """The results of texts, and how many evaluations they took."""
    told: list[tuple[int, int]] = []
    made = mb.evaluate(texts, task, progress=lambda done, total: told.append((done, total)), **options)
    assert told[-1][0] == told[-1][1]
    return made, told[-1][0]


def test_the_order_of_steps_and_dead_steps_make_no_further_evaluation(task: mb.Task) -> None:
    steps = ["a = hmirror(I)", "b = vmirror(I)", "c = rot90(a)", "d = rot270(c)", "e = vmirror(d)"]
    dice = random.Random(0)
    orders = ["\n".join([*shuffled(steps, dice), "O = hmirror(e)"]) for _ in range(50)]
    assert len(set(orders)) == 5
    # Each grid can be mirrored: an unneeded step that does so is removed.
    dead = [text.replace("O = ", f"z{at} = dmirror(b)\nO = ") for at, text in enumerate(orders)]
    without = [text.replace("b = vmirror(I)\n", "") for text in orders]
    made, evaluations = told_of(orders + dead + without, task)
    assert evaluations == 3 and {each.verdict for each in made} == {"match"}
    # Something that is not a pair has no first element: this step is not needed either, but fails.
    may_fail = [text.replace("O = ", "z = first(first(palette(a)))\nO = ") for text in orders]
    made, _ = told_of(may_fail, task)
    assert {each.verdict for each in made} == {"error"}
    lines = [1 + text.split("\n").index("z = first(first(palette(a)))") for text in may_fail]
    assert [each.line for each in made] == lines


def test_copies_of_a_loop_at_its_limit_cost_one() -> None:
    pair = mb.Pair(np.arange(900).reshape(30, 30) % 10, [[0]])
    task = mb.Task("a", [pair] * 3)
    before = LOOP.split("\n")
    copies = []
    for at in range(100):
        lines = [line.replace("x", f"v{at}_") for line in before]
        lines.insert(at % 4, f"dead{at} = vmirror(I)")
        copies.append("\n" * (at % 3) + "\n".join(lines))
    made, evaluations = told_of(copies, task)
    assert evaluations == 1 and {each.verdict for each in made} == {"limit"}
    for text, each in zip(copies, made, strict=True):
        (at,) = (at for at, line in enumerate(text.split("\n")) if re.search(r"product\(v\d+_2", line))
        assert each.line == at + 1


def test_a_text_comes_to_the_same_beside_any_others(task: mb.Task) -> None:
    dice = random.Random(5)
    large = mb.Pair(np.arange(900).reshape(30, 30) % 10, [[0]])
    task = mb.Task("a", [*task.train, large], task.test)
    dead = ["dead = first(palette(I))", "dead = first(fgpartition(I))", "dead = product(asindices(I), asindices(I))", "dead = ZERO"]
    first = [LOOP, "x1 = palette(I)\nx2 = argmax(x1, first)\nx3 = height(I)\nO = canvas(x2, astuple(x3, x3))"]
    first.append("x1 = objects(I, T, F, T)\nx2 = argmax(x1, size)\nO = subgrid(x2, I)")
    texts = list[str]()
    for start in first:
        for mutant in mb.mutate(mb.Program.parse(start), 2, count=15):
            lines = [line.strip() for line in str(mutant).split("\n")[1:-2]]
            returned = str(mutant).strip().rsplit(" ", 1)[1]
            for _ in range(4):
                kept = shuffled([*lines, dice.choice(dead)] if dice.random() < 0.7 else lines, dice)
                texts.append("\n".join([*kept, f"O = identity({returned})"]))
    made = mb.evaluate(texts, task, outputs=True)
    assert {each.verdict for each in made} >= {"error", "limit", "mismatch"}
    for text, each in zip(texts, made, strict=True):
        (alone,) = mb.evaluate([text], task, outputs=True)
        assert (alone.verdicts, alone.line, alone.reason, alone.score) == (each.verdicts, each.line, each.reason, each.score), text
        for own, other in zip(alone.outputs, each.outputs, strict=True):
            assert np.array_equal(own, other) if own is not None and other is not None else own is other


def test_after_a_limit_on_the_first_pair_no_other_is_evaluated() -> None:
    pair = mb.Pair(np.arange(900).reshape(30, 30) % 10, [[0]])
    told: list[tuple[int, int]] = []
    both = mb.evaluate(
        [LOOP, "O = vmirror(I)"], mb.Task("a", [pair] * 3, [pair]), outputs=True, progress=lambda done, total: told.append((done, total))
    )
    assert both[0].verdicts == ["limit"] * 4 and both[0].outputs == [None] and (both[0].expected, both[0].score) == (4, 0.0)
    assert both[1].verdicts == ["mismatch"] * 4 and both[1].outputs[0] is not None
    # Of eight evaluations three are skipped.
    assert told[-1] == (5, 5)
    for train, test, verdicts in [([], [pair], ["limit"]), ([pair], [], ["limit"]), ([], [], [])]:
        (each,) = mb.evaluate([LOOP], mb.Task("a", train, test))
        assert each.verdicts == verdicts
    assert mb.evaluate([LOOP], mb.Task("a", [pair] * 2, [pair]), train_only=True)[0].verdicts == ["limit"] * 2


def test_messages_are_texts(task: mb.Task) -> None:
    message = {"role": "assistant", "content": FENCED}
    parts = {"role": "assistant", "content": [{"type": "text", "text": "O = "}, {"type": "image"}, {"type": "text", "text": "vmirror(I)"}]}
    asked = {"role": "user", "content": "O = hmirror(I)"}
    given: list[Any] = [message, [message], [asked, message], (message,), parts, [message, asked]]
    assert [each.verdict for each in mb.evaluate(given, task)] == ["match"] * 6
    assert mb.evaluate([[asked]], task)[0].verdict == "mismatch"
    # A message without content that calls a tool.
    function = {"name": "submit", "arguments": json.dumps({"program": GOOD})}
    calls: list[Any] = [
        {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": function}]},
        {"role": "assistant", "tool_calls": [{"function": function | {"arguments": {"code": GOOD}}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "So"}, {"type": "tool_use", "input": {"code": GOOD}}]},
    ]
    assert [each.verdict for each in mb.evaluate(calls, task)] == ["match"] * 3
    assert mb.evaluate([{"content": "", "tool_calls": "none"}], task)[0].verdict == "no_program"


def test_each_text_has_its_task(task: mb.Task) -> None:
    other = {"train": [{"input": [[1, 2]], "output": [[1, 2]]}], "test": []}
    tasks: list[Any] = [task, other, json.dumps(other), other]
    made = mb.evaluate(["O = vmirror(I)", "O = vmirror(I)", "O = I", "O = I"], tasks)
    assert [each.verdict for each in made] == ["match", "mismatch", "match", "match"]
    assert [each.expected for each in mb.evaluate(["O = I"] * 2, [task, other], train_only=True)] == [2, 1]
    assert mb.evaluate([], task) == [] and mb.evaluate([], []) == []
    bad: list[tuple[Any, Any, type[Exception], str]] = [
        (["O = I"], [task, task], ValueError, "tasks: expected one task, or a list of one for each of the 1 texts, found 2"),
        (["O = I"], [3], TypeError, r"tasks\[0\]: expected"),
        (["O = I"], [{"train": 3}], ValueError, r"tasks\[0\]\.train: expected a list"),
        (["O = I"], ['{"train": 3}'], ValueError, r"tasks\[0\]: "),
        (["O = I"], 3, TypeError, "tasks: expected"),
        ("O = I", task, TypeError, "texts: expected a list of texts, found one str"),
        (3, task, TypeError, "texts: expected a list of texts, found int"),
        ([3, None, 4.5], task, TypeError, "texts: expected a list of texts, found int"),
    ]
    for texts, of, error, message in bad:
        with pytest.raises(error, match=message):
            mb.evaluate(texts, of)
    with pytest.raises(ValueError, match="scores=True"):
        mb.Engine().evaluate(["O = I"], task)


def test_engines_are_kept_and_few(task: mb.Task) -> None:
    from mega_batch import _completions

    for steps in range(1, 10):
        mb.evaluate(["O = I"], task, max_steps=steps)
    assert len(_completions._engines) == 4
    kept = [*_completions._engines.values()]
    mb.evaluate(["O = I"], task, max_steps=9)
    assert [*_completions._engines.values()] == kept
    with pytest.raises(TypeError, match="workers"):
        mb.evaluate(["O = I"], task, workers=[])  # type: ignore[arg-type]


def test_threads_share_evaluate(task: mb.Task) -> None:
    verdicts: list[str] = []

    def work() -> None:
        for _ in range(20):
            verdicts.extend(each.verdict for each in mb.evaluate([FENCED, "O = I", "no"], task))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(verdicts) == ["match"] * 80 + ["mismatch"] * 80 + ["no_program"] * 80


def trl_calls(reward_func: Callable[..., Any], prompts: list[Any], completions: list[Any], **columns: Any) -> Any:
    """As TRL's trainers call a reward function: with these keywords, and columns of the data set as lists."""
    assert isinstance(reward_func.__name__, str) and not inspect.iscoroutinefunction(reward_func)
    ids = [[1, 2, 3]] * len(completions)
    return reward_func(
        prompts=prompts, completions=completions, completion_ids=ids, trainer_state=object(),
        log_extra=print, log_metric=print, **columns,
    )


def test_a_reward_is_called_as_trl_does(task: mb.Task) -> None:
    columns = {"task": [task.to_dict()] * 3, "id": ["a", "b", "c"]}
    texts = trl_calls(mb.reward, ["p"] * 3, [FENCED, "O = hmirror(I)", "no"], **columns)
    assert texts == [1.0, 0.0, 0.0] and all(type(each) is float for each in texts)
    prompts: list[Any] = [[{"role": "user", "content": "p"}]] * 3
    chats: list[Any] = [[{"role": "assistant", "content": text}] for text in (FENCED, "O = hmirror(I)", None)]
    assert trl_calls(mb.reward, prompts, chats, **columns) == texts
    columns["task"] = [json.dumps(task.to_dict())] * 3
    assert trl_calls(mb.reward, prompts, chats, **columns) == texts


def test_a_trainer_of_trl_is_given_rewards(tmp_path: Path) -> None:
    """A model of a few words is trained by the rewards of its completions, with tasks as a column of a data set."""
    trl: Any = pytest.importorskip("trl", reason="TRL is not installed")
    datasets: Any = pytest.importorskip("datasets", reason="datasets is not installed")
    tokenizers: Any = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    transformers: Any = pytest.importorskip("transformers", reason="transformers is not installed")
    right = {"O = vmirror(I)", "p = lambda grid: [row[::-1] for row in grid]"} if sys.platform == "linux" else {"O = vmirror(I)"}
    words = ["<pad>", "<eos>", "no", *sorted(right), "O = hmirror(I)"]
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="no"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Split("|", "removed")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, pad_token="<pad>", eos_token="<eos>", unk_token="no", clean_up_tokenization_spaces=False
    )
    small = transformers.GPT2Config(
        vocab_size=len(words), n_positions=8, n_embd=8, n_layer=1, n_head=1, bos_token_id=1, eos_token_id=1, pad_token_id=0
    )
    tasks = [mb.Task(f"t{at}", [([[1, at]], [[at, 1]])], [([[3, at]], None if at % 2 else [[at, 3]])]) for at in range(4)]
    told: list[tuple[str, float]] = []

    def both(completions: list[str], **columns: Any) -> list[float]:
        scores = mb.reward(completions, python=True if sys.platform == "linux" else None, **columns)
        told.extend(zip(completions, scores, strict=True))
        return scores

    settings = trl.GRPOConfig(
        output_dir=str(tmp_path), per_device_train_batch_size=8, num_generations=8, max_steps=3, max_completion_length=1,
        report_to=[], use_cpu=True, save_strategy="no", logging_steps=1, disable_tqdm=True,
    )
    trainer = trl.GRPOTrainer(
        model=transformers.GPT2LMHeadModel(small), reward_funcs=[mb.reward, both], args=settings, processing_class=tokenizer,
        train_dataset=datasets.Dataset.from_dict({"prompt": ["no"] * 4, "task": [task.to_dict() for task in tasks]}),
    )
    trainer.train()
    assert len(told) == 24 and right <= {text for text, _ in told}
    assert all(score == (text in right) for text, score in told)
    means = [step["rewards/both/mean"] for step in trainer.state.log_history if "rewards/both/mean" in step]
    assert means == pytest.approx([sum(score for _, score in told[at : at + 8]) / 8 for at in (0, 8, 16)])


def test_a_reward_is_called_as_verl_does(task: mb.Task) -> None:
    ground_truth = json.dumps(task.to_dict())
    score = mb.compute_score(data_source="arc", solution_str=FENCED, ground_truth=ground_truth, extra_info={"split": "train"})
    assert type(score) is float and score == 1.0
    assert mb.compute_score("arc", "no", task) == 0.0
    # A column of its data is an array of objects.
    ground_truths: Any = np.array([ground_truth] * 2, dtype=object)
    scores = mb.compute_scores(
        data_sources=["arc"] * 2, solution_strs=[FENCED, "O = I"], ground_truths=ground_truths, extra_infos=[None] * 2
    )
    assert scores == [1.0, 0.0]


def test_one_text_is_no_list_of_them(task: mb.Task) -> None:
    data = task.to_dict()
    cases: list[tuple[Any, Any, str]] = [
        ("O = I", [data], "solution_strs"),
        (["O = I"], data, "ground_truths"),
        (["O = I"], json.dumps(data), "ground_truths"),
    ]
    for texts, truths, name in cases:
        with pytest.raises(TypeError, match=f"{name}: expected a list, found one "):
            mb.compute_scores(["arc"], texts, truths)
    with pytest.raises(TypeError, match="texts: expected a list of texts, found one str"):
        mb.reward("O = I", data)


def test_pass_at_k_counts_choices() -> None:
    for samples, correct, k in [(5, 2, 1), (5, 2, 3), (5, 0, 2), (5, 5, 1), (5, 3, 3), (7, 1, 7)]:
        chosen = list(itertools.combinations([True] * correct + [False] * (samples - correct), k))
        assert mb.pass_at_k(samples, correct, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    np.testing.assert_allclose(mb.pass_at_k([10, 10, 4], [1, 0, 4], 2), [0.2, 0.0, 1.0])
    assert mb.pass_at_k(10_000, 1, 100) == pytest.approx(0.01)
    for bad in [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0)]:
        with pytest.raises(ValueError, match="expected"):
            mb.pass_at_k(*bad)


def test_pass_at_k_of_many_samples_takes_no_time_for_each() -> None:
    assert mb.pass_at_k(10**12, 5, 10**9) == pytest.approx(1 - 0.999**5, rel=1e-8)
    assert mb.pass_at_k(10**12, 10**9, 5) == mb.pass_at_k(10**12, 5, 10**9)
    assert mb.pass_at_k(10**12, 10**6, 10**6) == pytest.approx(-math.expm1(-1.000001), rel=1e-9)
    assert mb.pass_at_k(10**12, 10**11, 10**10) == 1.0
    assert mb.pass_at_k(10**15, 1, 1) == 1e-15
    # Steps that stand for several factors give the same as the factors.
    for samples, correct, k in [(10**9, 20_000, 30_000), (10**6, 5000, 20), (400_000, 4097, 4100), (50_000, 5000, 5000)]:
        factors = [math.log1p(-max(correct, k) / (samples - at)) for at in range(min(correct, k))]
        assert mb.pass_at_k(samples, correct, k) == pytest.approx(-math.expm1(math.fsum(factors)), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((10, 3, 1.5), ValueError, "k: expected whole numbers, found 1.5"),
        ((10, 3, math.nan), ValueError, "k: expected whole numbers, found nan"),
        ((math.nan, 3, 1), ValueError, "samples: expected whole numbers, found nan"),
        (([10, 10], [3, math.nan], 1), ValueError, "correct: expected whole numbers, found nan"),
        ((10, 3, math.inf), ValueError, "k: expected whole numbers, found inf"),
        ((10, "3", 1), TypeError, "correct: expected whole numbers of 64 bits at most, found '3'"),
        ((10, 3, None), TypeError, "k: expected whole numbers of 64 bits at most, found None"),
        ((10, 3, [1, 2]), TypeError, "k: expected a whole number, found list"),
        (([10, 10], [1, 2, 3], 1), ValueError, r"samples, correct: expected shapes .*, found \(2,\) and \(3,\)"),
    ],
)
def test_what_has_no_pass_at_k_says_why(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        mb.pass_at_k(*arguments)


def test_attempts_are_voted_on() -> None:
    # None of those that fit solves the last test pair.
    task = mb.Task("a", [([[1, 2]], [[2, 1]])], [([[3, 4]], [[3, 4]]), ([[5, 6], [7, 8]], None)])
    texts = ["O = I", "O = I\nx = O\nO = x", "O = rot180(I)", "O = vmirror(I)", "x = vmirror(I)\nO = identity(x)", "no", "O = height(I)"]
    attempts = mb.majority_attempts(mb.evaluate(texts, task, outputs=True))
    assert [[attempt.tolist() for attempt in pair] for pair in attempts] == [
        [[[4, 3]], [[3, 4]]], [[[6, 5], [8, 7]], [[8, 7], [6, 5]]],
    ]
    assert [len(pair) for pair in mb.majority_attempts(mb.evaluate(texts, task, outputs=True), k=5)] == [2, 3]
    assert mb.majority_attempts([]) == [] == mb.majority_attempts(mb.evaluate(["no"], task, outputs=True))
    assert mb.majority_attempts(mb.evaluate(texts, task, outputs=True), k=0) == [[], []]
    for without in (mb.evaluate(["no", *texts], task), mb.evaluate(texts, task, outputs=True, train_only=True)):
        with pytest.raises(ValueError, match=r"evaluated: expected outputs .*`evaluate\(.., outputs=True\)`"):
            mb.majority_attempts(without)
    wrongs: list[Any] = ["O = I", None]
    for wrong in wrongs:
        with pytest.raises(TypeError, match=f"evaluated: expected what `evaluate` gives, found {type(wrong).__name__}"):
            mb.majority_attempts(wrong)
    for k, message in [(-1, "k: expected 0 or more, found -1"), (1.5, "k: expected whole numbers, found 1.5")]:
        with pytest.raises(ValueError, match=message):
            mb.majority_attempts([], k=k)  # type: ignore[arg-type]


def test_evaluate_is_called_within_its_callback() -> None:
    task = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}]}
    inner: list[mb.Evaluated] = []
    (outer,) = mb.evaluate([GOOD], task, progress=lambda *_: inner.extend(mb.evaluate([GOOD], task)))
    assert inner and {each.verdict for each in inner} == {outer.verdict} == {"match"}
    scores: list[float] = []
    mb.evaluate([GOOD], task, progress=lambda *_: scores.extend(mb.reward([GOOD], task)))
    assert scores and set(scores) == {1.0}
    # Another thread waits, and so does the calling one, but not for the engine.
    engine = mb.Engine(scores=True)
    verdicts: list[str] = []
    threads = [
        threading.Thread(target=lambda: verdicts.extend(each.verdict for each in engine.evaluate([GOOD], task)))
        for _ in range(4)
    ]

    def start(*_: Any) -> None:
        for thread in threads:
            if not thread.ident:
                thread.start()

    engine.evaluate([GOOD], task, progress=start)
    for thread in threads:
        thread.join()
    assert verdicts == ["match"] * 4


def test_what_evaluate_gives_is_pickled_and_copied() -> None:
    task = {
        "train": [{"input": [[1, 2]], "output": [[2, 1]]}],
        "test": [{"input": [[3, 4]]}, {"input": [[0] * 30] * 30, "output": [[1]]}],
    }
    texts = [GOOD, "O = height(I)", "O = first(I)\nx = 1", "nothing", None, LOOP, "O = crop(I, (5, 5), (9, 9))"]
    for outputs in (True, False):
        evaluated = mb.evaluate(texts, task, outputs=outputs)
        for each in evaluated:
            for other in (pickle.loads(pickle.dumps(each)), copy.copy(each), copy.deepcopy(each)):
                assert other == each and hash(other) == hash(each) and repr(other) == repr(each)
                assert (other.verdict, other.verdicts, other.line, other.reason) == (each.verdict, each.verdicts, each.line, each.reason)
                assert (other.score, other.right, other.expected) == (each.score, each.right, each.expected)
                assert (other.program, other.error) == (each.program, each.error)
                for mine, its in zip(each.outputs, other.outputs, strict=True):
                    np.testing.assert_array_equal(mine, its)
        assert len({*evaluated, *mb.evaluate(texts, task, outputs=outputs)}) == len(set(evaluated))
        other_type: Any = GOOD
        assert evaluated[0] != evaluated[1] and evaluated[0] != other_type
    assert mb.evaluate([GOOD], task)[0] != mb.evaluate([GOOD], task, outputs=True)[0]


def test_functions_devices_and_steps_are_pickled() -> None:
    texts = ["O = compose(hmirror, vmirror)", "O = lbind(shift, (1, -2))", "O = hmirror", "O = power(rbind(add, 3), 2)"]
    for text in texts:
        value = mb.Program.parse(text)([[1, 2]])
        assert isinstance(value, mb.Function)
        other = pickle.loads(pickle.dumps(value))
        assert other == value and hash(other) == hash(value) and str(other) == str(value)
    assert mb.Program.parse(texts[0])([[1]]) != mb.Program.parse(texts[2])([[1]])
    bound = mb.Program.parse("O = lbind(hconcat, I)")([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(bound)
    for device in mb.devices():
        other_device = pickle.loads(pickle.dumps(device))
        assert other_device == device and hash(other_device) == hash(device) and repr(other_device) == repr(device)
    steps = mb.trace(mb.Program.parse("x1 = hmirror(I)\nx2 = size(x1)\nx3 = first(x2)\nO = x1"), [[1, 2], [3, 4]])
    others = pickle.loads(pickle.dumps(steps))
    assert others == steps and repr(others) == repr(steps) and steps[0] != steps[1]


def test_what_is_no_list_of_texts_or_tasks_is_refused() -> None:
    task = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}]}
    message: Any = {"role": "assistant", "content": GOOD}
    for of in (message, types.MappingProxyType(message)):
        with pytest.raises(TypeError, match="texts: expected a list of texts, found one dict: a message stands in a list"):
            mb.evaluate(of, task)
    bad: Any = {"trains": task["train"], "test": []}
    for given in (bad, json.dumps(bad), [bad], [json.dumps(bad)]):
        with pytest.raises(ValueError, match="expected the key .train. with a list of pairs, found"):
            mb.reward([GOOD], given)
    tasks: Any = (task for _ in range(2))
    assert [each.verdict for each in mb.evaluate([GOOD, "O = I"], tasks)] == ["match", "mismatch"]
    with pytest.raises(ValueError, match="for each of the 2 texts, found 1$"):
        mb.evaluate([GOOD, GOOD], iter([task]))
    with pytest.raises(ValueError, match="for each of the 2 texts, found more$"):
        mb.evaluate([GOOD, GOOD], itertools.repeat(task))


def test_what_holds_no_text_at_all_is_refused(task: mb.Task) -> None:
    message = {"role": "assistant", "content": "O = vmirror(I)"}
    given: list[Any] = [[{"code": "O = I"}], [{"program": "O = I"}] * 3, [[[message]]], [5.0], [None, {"code": "O = I"}]]
    for texts in given:
        with pytest.raises(TypeError, match=r"texts: expected a list of texts, found (dict|list|float)"):
            mb.reward(texts, task)
    # These are messages, or what a service returns in their place.
    nothing: list[Any] = [[None, None], [[]], [{"role": "assistant"}], [[{"role": "assistant", "content": None}]]]
    for texts in nothing:
        assert mb.reward(texts, task) == [0.0] * len(texts)


MIRRORED = "def solve(I):\n    return vmirror(I)"
JSON = '{"code": "O = vmirror(I)"}'


@pytest.mark.parametrize(
    "text",
    [
        f"<answer>{MIRRORED}\n</answer>",
        f"<solution>{MIRRORED}</solution>",
        f"<|message|>{MIRRORED}",
        f"<answer>O = rot90(I)</answer> or rather <answer>{MIRRORED}</answer>",
        "<answer lang='py'>O = vmirror(I)</answer>\nO = rot90(I)",
        f"<answer>{JSON}</answer>",
        f"<answer>\n{JSON}\n</answer>",
        f"<think>O = rot90(I)</think>\n{JSON}",
        f"<tool_call>\n{JSON}\n</tool_call>",
        f"{JSON}<|im_end|>",
        f"\ufeff{JSON}",
        f"Here it is:\n{JSON}\nDone.",
        '{"code": "O = rot90(I)"}\n' + JSON,
        f"```\n{JSON}\n```",
        '{"code": "# \\ud800\\nO = vmirror(I)"}',
        '{"code": "# \\ud83d\\ude00\\nO = vmirror(I)"}',
        '```python\ndef solve(I):\n    """\n    ```\n    x\n    ```\n    """\n    return vmirror(I)\n```\nThat is all.',
        f"```python\n{MIRRORED}\n    ```\nThat is all.",
        "I used `<think>` before.\n\nO = vmirror(I)",
        "*O = vmirror(I)*",
        f"Answer: {MIRRORED}",
        "\\boxed{vmirror(I)}",
        "$\\boxed{O = vmirror(I)}$",
        "So it is $\\boxed{O = vmirror(I)}$.",
        "\tdef solve(I):\n\t\treturn vmirror(I)",
        "\t```python\n\tdef solve(I):\n\t\treturn vmirror(I)\n\t```",
    ],
)
def test_what_stands_around_a_program_is_not_in_its_way(task: mb.Task, text: str) -> None:
    (evaluated,) = mb.evaluate([text], task)
    assert evaluated.verdict == "match", evaluated.reason


@pytest.mark.parametrize("inner", ["compose(decrement, ONE)", "compose(ONE, size)", "fork(add, ONE, size)", "chain(size, UP, first)"])
def test_a_step_that_calls_what_is_no_function_fails_though_nothing_needs_it(task: mb.Task, inner: str) -> None:
    text = f"def solve(I):\n    f = {inner}\n    dead = apply(f, I)\n    return vmirror(I)"
    (evaluated,) = mb.evaluate([text], task)
    error = mb.run(text, task, jobs="all")[0].error
    assert evaluated.verdict == "error" and error is not None
    assert (evaluated.line, evaluated.reason) == (error.line, str(error))


def test_a_score_is_of_all_pairs_also_where_the_end_is_early() -> None:
    pair = ([[1, 2]], [[2, 1]])
    wrong = ([[1, 2]], [[3, 3]])
    task = mb.Task("a", [pair, pair, pair, wrong, wrong, wrong], [pair])
    whole, early = (mb.evaluate(["O = vmirror(I)"], task, stop_after_wrong=stop)[0] for stop in (False, True))
    assert (whole.expected, whole.right, early.expected, early.right) == (7, 4, 7, 3)
    first = mb.evaluate(["O = vmirror(I)"], mb.Task("a", [wrong, pair, pair]), stop_after_wrong=True)[0]
    assert (first.expected, first.right) == (3, 0)


def test_a_task_may_be_json_as_bytes(task: mb.Task) -> None:
    text = json.dumps(task.to_dict()).encode()
    assert mb.evaluate(["O = vmirror(I)"], text)[0].verdict == "match"


def test_columns_of_arrow_are_read(task: mb.Task) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    texts = ["O = vmirror(I)", None, "O = I"]
    tasks = [json.dumps(task.to_dict())] * 3
    expected = mb.reward(texts, task)
    assert expected[:2] == [1.0, 0.0]
    for column in (pa.array(texts), pa.chunked_array([texts])):
        assert mb.reward(column, task) == expected
        assert mb.reward(column, pa.array(tasks)) == expected
    chats = pa.array([[{"role": "assistant", "content": text}] for text in texts])
    assert mb.reward(chats, task) == expected


def test_attempts_are_grids_that_a_competition_takes(task: mb.Task) -> None:
    texts = ["O = canvas(0, (40, 40))", "O = canvas(-5, (1, 1))", "O = vmirror(I)"]
    attempts = mb.majority_attempts(mb.evaluate(texts, task, outputs=True))
    assert [[grid.shape for grid in of] for of in attempts] == [[task.test[0].input.shape]]


def test_no_function_is_judged_in_the_place_of_an_answer_that_cannot_be_read(task: mb.Task) -> None:
    text = "def mirrored(I):\n    return vmirror(I)\n\ndef solve(I):\n    for i in I:\n        pass\n    return I\n"
    (evaluated,) = mb.evaluate([text], task)
    assert (evaluated.verdict, evaluated.line) == ("no_program", 5)
    good = text.replace("    for i in I:\n        pass\n    return I", "    return mirrored(I)")
    assert mb.evaluate([good], task)[0].verdict == "match"
