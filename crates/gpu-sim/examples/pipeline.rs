//! Runs a pipeline on a batch of grids in one launch, on the first GPU or, if there is none,
//! on the emulated device: `cargo run --example pipeline -p gpu-sim`.

use std::error::Error;

use arc_dsl::Grid;
use arc_text::parse_programs;
use gpu_kernels::device::{Device, open};
use gpu_kernels::{Engine, encode};
use gpu_sim::emulated::Emulation;

/// Crops a grid to its largest object, and rotates that.
const PIPELINE: &str = "\
def solve_pipeline(I):
    x1 = objects(I, T, F, T)
    x2 = argmax(x1, size)
    x3 = subgrid(x2, I)
    O = rot90(x3)
    return O
";

fn main() -> Result<(), Box<dyn Error>> {
    match open::gpu(0) {
        Ok(device) => run(&Engine::new(device)),
        Err(reason) => {
            println!("no GPU: {reason}");
            run(&Engine::new(gpu_sim::open::emulated(
                0,
                &Emulation::default(),
            )?))
        }
    }
}

/// Runs the pipeline on every grid, and prints the results.
fn run<D: Device>(engine: &Engine<D>) -> Result<(), Box<dyn Error>> {
    let grids = [
        Grid::from_rows(&[[0, 3, 3, 0], [0, 3, 0, 0], [0, 0, 0, 5]])?,
        Grid::from_rows(&[[1, 0, 0], [0, 2, 2]])?,
        // Too large for the device, so the host would have to run it.
        Grid::filled(40, 40, 7),
    ];
    let program = parse_programs(PIPELINE).remove(0)?;
    let program = encode(&arc_form::specialise(&program)?)?;
    println!("on {}:", engine.device().information().name);
    for result in engine.batch(&program, &grids)? {
        match result {
            Ok(value) => println!("{value}"),
            Err(bail_out) => println!("bail-out: {bail_out}"),
        }
    }
    Ok(())
}
