"""Trains a small network on tasks that are made of programs: from three pairs of a task and an input
to the output.

    python train.py --seconds 300 --checkpoint run.pt
    python train.py --seconds 300 --checkpoint run.pt --resume

Each idea of the training guides is an option. It runs on a CUDA device where there is one, otherwise on the CPU, and
says which of the options have no effect there.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import time
from pathlib import Path
from typing import Any

import mega_batch as mb
from mega_batch import synth

try:
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch import nn
    from torch.utils.checkpoint import checkpoint
except ImportError:
    sys.exit("torch is not installed: pip install torch")

from mega_batch.torch import Batch, TaskDataset, best_workers, find_max_batch, loader, memory_report

PROGRAMS = """
def solve_vmirror(I): return vmirror(I)
def solve_hmirror(I): return hmirror(I)
def solve_rot180(I): return rot180(I)
def solve_rot90(I): return rot90(I)
def solve_dmirror(I): return dmirror(I)
def solve_swapped(I): return switch(I, ONE, TWO)
def solve_replaced(I): return replace(I, THREE, FOUR)
def solve_upper(I): return tophalf(I)
def solve_left(I): return lefthalf(I)
def solve_trimmed(I): return trim(I)
def solve_folded(I): return hconcat(lefthalf(I), righthalf(vmirror(I)))
def solve_filled(I): return fill(I, FIVE, ofcolor(I, ZERO))
"""
"""The programs that tasks are generated from: rules that a small network learns in minutes, varied and composed."""

COLOURS = 10
OUTSIDE = COLOURS
"""The class of cells outside the grid in its square."""


def count(text: str) -> int:
    """A number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, found {text}")
    return int(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, help="a file of programs to make tasks of instead of a few small ones")
    parser.add_argument("--tasks", type=int, default=6000, help="tasks to train on")
    parser.add_argument("--held-out", type=int, default=400, help="tasks of another seed, to look at alone")
    parser.add_argument("--augment", action="store_true", help="train on other positions and colours too")
    parser.add_argument("--side", type=int, default=8, help="the most rows and columns of grids")
    parser.add_argument("--width", type=int, default=32, help="channels of the network")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    parser.add_argument("--seconds", type=float, default=300, help="how long to train")
    parser.add_argument("--steps", type=int, help="how many steps to train, in all")
    parser.add_argument("--tell", type=float, default=30, help="seconds from line to line")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="threads that compute on a CPU; fewer where others need its cores")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    idea = parser.add_argument_group("ideas of the training guides").add_argument
    idea(
        "--precision",
        choices=["auto", "float32", "bfloat16", "float16"],
        default="auto",
        help="mixed precision: what matrices are multiplied in; `auto` is 16 bits on a CUDA device, float32 on a CPU",
    )
    idea("--accumulate", type=count, default=1, help="gradient accumulation: the parts of a step")
    idea("--batch", default="32", help="tasks of a step's part, or `auto`: as many as memory has room for")
    idea("--workers", default="0", help="processes that make batches, or `auto`: as many as are best")
    idea(
        "--pin-memory",
        action=argparse.BooleanOptionalAction,
        help="batches in pinned memory, copied while the device computes; the default on a CUDA device",
    )
    idea("--cudnn-benchmark", action="store_true", help="cuDNN times its kernels for each shape and keeps the fastest")
    idea(
        "--gradient-checkpointing",
        action="store_true",
        help="blocks are computed again for their gradients instead of kept: less memory, more time",
    )
    idea("--memory", action="store_true", help="with each line free what is unused, and report what is used")
    idea("--processes", type=count, default=1, help="several GPUs: a process for each, which share every step")
    idea("--clip", type=float, default=1.0, help="the largest norm of a step's gradients")
    idea("--checkpoint", type=Path, help="a file to keep the training in")
    idea("--every", type=int, default=200, help="steps from checkpoint to checkpoint")
    idea("--resume", action="store_true", help="go on from the checkpoint")
    return parser.parse_args()


ONLY_CUDA = ["pin_memory", "cudnn_benchmark"]
"""The options that change nothing on a CPU."""


def joined(asked: argparse.Namespace) -> int:
    """Starts the processes, joins this one to the others, and returns its number.

    Not `nn.DataParallel`: its one process, with a thread for each GPU, copies the network to all of them in every step
    and gathers the outputs on the first one, whose memory then limits the batch.
    """
    if asked.processes == 1:
        return 0
    if asked.device == "cuda" and asked.processes > torch.cuda.device_count():
        sys.exit(f"--processes {asked.processes}: a GPU for each is needed, found {torch.cuda.device_count()}")
    if "RANK" not in os.environ:
        torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={asked.processes}"]
        os.execv(sys.executable, [sys.executable, *torchrun, *sys.argv])
    if asked.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    # Gradients are exchanged between GPUs, what the processes agree on between CPUs.
    dist.init_process_group("cpu:gloo,cuda:nccl" if asked.device == "cuda" else "gloo")
    return int(dist.get_rank())


def one_hot(grids: Any, masks: Any) -> Any:
    """Squares (n, side, side) as planes (n, 11, side, side): one for each colour, and one for cells outside the
    grid."""
    classes = torch.where(masks, grids.long(), OUTSIDE)
    return F.one_hot(classes, COLOURS + 1).movedim(-1, 1).float()


class Block(nn.Module):  # type: ignore[misc]
    """Two convolutions with a skip connection, scaled and shifted by the encoded rule."""

    def __init__(self, width: int, rule: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)
        self.rule = nn.Linear(rule, 2 * width) if rule else None

    def forward(self, x: Any, rule: Any = None) -> Any:
        y = self.norm(x)
        if self.rule is not None:
            scale, shift = self.rule(rule)[:, :, None, None].chunk(2, 1)
            y = y * (1 + scale) + shift
        return x + self.second(F.gelu(self.first(F.gelu(y))))


class Network(nn.Module):  # type: ignore[misc]
    """The pairs of a task are encoded as one vector, the rule; with it the output is computed from the input, cell by
    cell."""

    def __init__(self, width: int, side: int, recomputes: bool) -> None:
        super().__init__()
        self.recomputes = recomputes
        classes = COLOURS + 1
        self.place = nn.Parameter(torch.zeros(1, width, side, side))
        self.pair = nn.Conv2d(2 * classes, width, 3, padding=1)
        # Mixes all rows and columns, for distant cells, as in a mirrored grid.
        self.pair_mix = nn.ModuleList([nn.Linear(side * side, side * side) for _ in range(2)])
        self.pair_blocks = nn.ModuleList([Block(width, 0) for _ in range(2)])
        self.rule = nn.Sequential(nn.Linear(2 * width, 4 * width), nn.GELU(), nn.Linear(4 * width, 2 * width))
        self.input = nn.Conv2d(classes, width, 3, padding=1)
        self.mix = nn.ModuleList([nn.Linear(side * side, side * side) for _ in range(2)])
        self.blocks = nn.ModuleList([Block(width, 2 * width) for _ in range(4)])
        self.output = nn.Conv2d(width, classes, 1)
        # How strongly each colour stays unchanged.
        self.stays = nn.Linear(2 * width, classes)

    def through(self, block: Block, *values: Any) -> Any:
        """The block's output. What its gradients need is kept, or computed again."""
        if self.recomputes and torch.is_grad_enabled():
            return checkpoint(block, *values, use_reentrant=False)
        return block(*values)

    def forward(self, batch: Batch) -> Any:
        """Logits (n, 11, side, side) of the output of the last pair of each task."""
        inputs, outputs = batch["inputs"], batch["outputs"]
        n, pairs, side, _ = inputs.shape
        known = slice(0, pairs - 1)
        planes = [
            one_hot(grids[:, known].flatten(0, 1), masks[:, known].flatten(0, 1))
            for grids, masks in ((inputs, batch["input_mask"]), (outputs, batch["output_mask"]))
        ]
        x = self.pair(torch.cat(planes, 1)) + self.place
        for mix, block in zip(self.pair_mix, self.pair_blocks, strict=True):
            x = self.through(block, x + mix(x.flatten(2)).view_as(x))
        seen = torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)
        rule = F.gelu(self.rule(seen.view(n, pairs - 1, -1).mean(1)))

        asked = one_hot(inputs[:, -1], batch["input_mask"][:, -1])
        x = self.input(asked) + self.place
        for at, block in enumerate(self.blocks):
            x = self.through(block, x, rule)
            if at < len(self.mix):
                x = x + self.mix[at](x.flatten(2)).view_as(x)
        return self.output(x) + self.stays(rule)[:, :, None, None] * asked


def loss_of(network: Any, batch: Batch) -> Any:
    wanted = torch.where(batch["output_mask"][:, -1], batch["outputs"][:, -1].long(), OUTSIDE)
    return F.cross_entropy(network(batch).float(), wanted)


def moved(batch: Batch, device: str) -> Batch:
    """The batch on the device. Only from pinned memory it is copied while the device computes."""
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}  # type: ignore[attr-defined, return-value]


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def right_parts(network: Any, batches: Any, device: str) -> tuple[float, float]:
    """The fraction of right output cells, and of completely right outputs."""
    cells = right_cells = tasks = right_tasks = 0
    for batch in batches:
        batch = moved(batch, device)
        mask = batch["output_mask"][:, -1]
        wanted = torch.where(mask, batch["outputs"][:, -1].long(), OUTSIDE)
        right = network(batch).argmax(1) == wanted
        cells += int(mask.sum())
        right_cells += int((right & mask).sum())
        tasks += len(right)
        right_tasks += int(right.flatten(1).all(1).sum())
    return right_cells / cells, right_tasks / tasks


def precision(asked: str, device: str) -> Any:
    """The type of activations: 16 bits wide if the device computes faster with it."""
    if asked == "auto":
        if device != "cuda":
            return None
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    return {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}[asked]


def save(path: Path, state: dict[str, Any]) -> None:
    """Replaces the file atomically: a training that is killed in the meantime leaves the old one."""
    written = path.with_name(f"{path.name}.new")
    torch.save(state, written)
    os.replace(written, path)


def random_batch(size: int, pairs: int, side: int, device: str) -> Batch:
    """A batch of dummy data, with full grids."""
    shape = (size, pairs, side, side)
    grids = torch.randint(0, COLOURS, shape, dtype=torch.uint8, device=device)
    mask = torch.ones(shape, dtype=torch.bool, device=device)
    tasks = torch.zeros(size, dtype=torch.int64, device=device)
    return {"inputs": grids, "input_mask": mask, "outputs": grids, "output_mask": mask, "task": tasks}


def main() -> None:
    asked = arguments()
    device: str = asked.device
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("--device cuda: there is no CUDA device")
    rank = joined(asked)

    def say(*what: object) -> None:
        if rank == 0:
            print(*what, flush=True)

    def agreed(number: int) -> int:
        """The smallest of the processes' numbers."""
        if asked.processes > 1:
            all_ = torch.tensor(number)
            dist.all_reduce(all_, dist.ReduceOp.MIN)
            number = int(all_)
        return number

    idle = [f"--{name.replace('_', '-')}" for name in ONLY_CUDA if getattr(asked, name)]
    if device != "cuda" and idle:
        say("without effect on a CPU:", ", ".join(idle))
    pin_memory = device == "cuda" and asked.pin_memory is not False
    torch.backends.cudnn.benchmark = asked.cudnn_benchmark
    torch.manual_seed(asked.seed)
    if asked.threads:
        torch.set_num_threads(asked.threads)
    begin = time.perf_counter()

    def made(count: int, seed: int) -> list[mb.SynthTask]:
        # Programs that behave alike are kept: a rule is learnt from many inputs.
        return list(
            synth.tasks(
                asked.programs or PROGRAMS,
                count=count,
                seed=seed,
                kinds=["program", "variation", "composition"],
                scene_side=asked.side,
                max_side=asked.side,
                keep_duplicates=True,
                easy_nodes=0,
            )
        )

    tasks = made(asked.tasks, asked.seed)
    known = {each.id for each in tasks}
    others = [each for each in made(asked.held_out, asked.seed + 1) if each.id not in known]
    say(f"{len(tasks)} tasks, {len(others)} held out, in {time.perf_counter() - begin:.1f} s")

    network = Network(asked.width, asked.side, asked.gradient_checkpointing).to(device)
    optimiser = torch.optim.AdamW(network.parameters(), lr=asked.rate, weight_decay=0.01)
    warm_up = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / 100))
    half = precision(asked.precision, device)
    # Gradients of float16 are scaled, so that small ones are not 0; bfloat16 has the range of float32.
    scaler = torch.amp.GradScaler(device, enabled=half is torch.float16)

    def autocast() -> Any:
        return torch.autocast(device, dtype=half or torch.bfloat16, enabled=half is not None)

    if asked.batch == "auto":

        def step(model: Any, size: int) -> None:
            with autocast():
                loss = loss_of(model, random_batch(size, 4, asked.side, device))
            loss.backward()

        # An epoch has at least one step.
        most = max(len(tasks) // (asked.accumulate * asked.processes), 1)
        found = find_max_batch(network, step, most=most)
        batch_size = agreed(found.recommended)
        say(f"batches of {found.size} have room, {batch_size} are taken")
    else:
        batch_size = int(asked.batch)

    common: dict[str, Any] = {"batch_size": batch_size, "unit": "task", "pairs": 4, "side": asked.side}
    data = TaskDataset(
        tasks, seed=asked.seed, drop_last=True, symmetries=asked.augment, colours=asked.augment, **common
    )
    if data.batches < asked.accumulate:
        needed = batch_size * asked.accumulate * asked.processes
        sys.exit(f"--tasks: a step takes {needed} tasks, found {len(tasks)}")
    if asked.workers == "auto":
        rates = best_workers(data, seconds=1.0)
        workers = rates.best
        say(rates)
    else:
        workers = int(asked.workers)
    batches = loader(data, workers=workers, pin_memory=pin_memory)
    as_they_are: dict[str, Any] = {"shuffle": False, "symmetries": False, "colours": False, "order": False}
    # The first process looks at all of them.
    held_out = TaskDataset(others, rank=0, world=1, **as_they_are, **common)
    tests = loader(held_out, workers=0, pin_memory=pin_memory)
    cells, whole = right_parts(lambda batch: one_hot(batch["inputs"][:, -1], batch["input_mask"][:, -1]), tests, device)
    say(f"of what is held out inputs themselves are right in {cells:.1%} of cells, {whole:.1%} of outputs")

    number, epoch, at = 0, 0, 0
    if asked.resume:
        if asked.checkpoint is None or not asked.checkpoint.exists():
            sys.exit("--resume: there is no checkpoint")
        kept = torch.load(asked.checkpoint, map_location=device, weights_only=True)
        for name, found_here in (("batch_size", batch_size), ("processes", asked.processes)):
            if kept[name] != found_here:
                sys.exit(f"--resume: {name} of the checkpoint is {kept[name]}, found {found_here}")
        network.load_state_dict(kept["network"])
        optimiser.load_state_dict(kept["optimiser"])
        warm_up.load_state_dict(kept["warm_up"])
        scaler.load_state_dict(kept["scaler"])
        number, epoch, at = kept["step"], kept["epoch"], kept["at"]
        say(f"resumed at step {number}")
    # Averages the gradients of the processes while they are computed.
    model = nn.parallel.DistributedDataParallel(network) if asked.processes > 1 else network
    shown = str(half or torch.float32).removeprefix("torch.")
    say(f"a step on {device}: {batch_size} tasks x {asked.accumulate} parts x {asked.processes} processes, in {shown}")

    def keep() -> None:
        if asked.checkpoint is not None and rank == 0:
            save(
                asked.checkpoint,
                {
                    "network": network.state_dict(),
                    "optimiser": optimiser.state_dict(),
                    "warm_up": warm_up.state_dict(),
                    "scaler": scaler.state_dict(),
                    "step": number,
                    "epoch": epoch,
                    "at": at,
                    "batch_size": batch_size,
                    "processes": asked.processes,
                },
            )

    def tell(losses: list[Any]) -> None:
        if rank != 0:
            return
        network.eval()
        cells, whole = right_parts(network, tests, device)
        network.train()
        # Before the first step there is no loss.
        loss = f"loss {float(torch.stack(losses).mean()):.4f}; " if losses else ""
        passed = time.perf_counter() - began
        say(f"step {number}, {passed:.0f} s: {loss}held out: {cells:.1%} of cells, {whole:.1%} of outputs right")
        if asked.memory:
            gc.collect()
            # Blocks that the allocator keeps for later: after the larger batches of a test, or of the search for one.
            torch.cuda.empty_cache()
            say(memory_report(network, optimiser))

    began = time.perf_counter()
    tell([])
    losses: list[Any] = []
    told = time.perf_counter()

    def is_over() -> bool:
        over = time.perf_counter() - began >= asked.seconds or (asked.steps is not None and number >= asked.steps)
        # Clocks differ: the first whose time is up ends it for all.
        return agreed(0 if over else 1) == 0

    try:
        while not is_over():
            data.set_epoch(epoch, start=at)
            part = 0
            for batch in batches:
                is_last = (part + 1) % asked.accumulate == 0
                # Gradients are exchanged once a step.
                with contextlib.nullcontext() if is_last or model is network else model.no_sync():
                    with autocast():
                        loss = loss_of(model, moved(batch, device))
                    # With accumulation the gradients of the parts add up to those of one large batch.
                    scaler.scale(loss / asked.accumulate).backward()
                # Not `item()`, which waits for the device.
                losses.append(loss.detach())
                part += 1
                at += 1
                if not is_last:
                    continue
                scaler.unscale_(optimiser)
                nn.utils.clip_grad_norm_(network.parameters(), asked.clip)
                scaler.step(optimiser)
                scaler.update()
                optimiser.zero_grad(set_to_none=True)
                warm_up.step()
                number += 1
                if number % asked.every == 0:
                    keep()
                if time.perf_counter() - told >= min(asked.tell, asked.seconds / 5):
                    tell(losses)
                    losses, told = [], time.perf_counter()
                if is_over():
                    break
            else:
                epoch, at = epoch + 1, 0
                optimiser.zero_grad(set_to_none=True)
    except KeyboardInterrupt:
        say("interrupted")
    keep()
    tell(losses)
    if not asked.memory:
        say(memory_report(network, optimiser))
    if asked.processes > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
