//! Runs a batch of grids through a pipeline in one launch, on the first GPU or, where there is none,
//! on the emulated device: `cargo run --example pipeline -p gpu-kernels`.

use std::error::Error;

use arc_dsl::{Grid, Primitive};
use gpu_kernels::Engine;
use gpu_kernels::batch::{Given, GridBatch, Pipeline};
use gpu_kernels::device::emulated::Emulation;
use gpu_kernels::device::{Device, open};

fn main() -> Result<(), Box<dyn Error>> {
    match open::gpu(0) {
        Ok(device) => run(&Engine::new(device)),
        Err(reason) => {
            println!("no GPU: {reason}");
            run(&Engine::new(open::emulated(0, &Emulation::default())?))
        }
    }
}

/// Crops every grid to its largest object, turns that, and says how it came out.
fn run<D: Device>(engine: &Engine<D>) -> Result<(), Box<dyn Error>> {
    let grids = [
        Grid::from_rows(&[[0, 3, 3, 0], [0, 3, 0, 0], [0, 0, 0, 5]])?,
        Grid::from_rows(&[[1, 0, 0], [0, 2, 2]])?,
        // Larger than the device holds: it is for the host.
        Grid::filled(40, 40, 7),
    ];
    let pipeline = Pipeline::new()
        .then(
            Primitive::Objects,
            &[Given::Previous, true.into(), false.into(), true.into()],
        )?
        .then(
            Primitive::Argmax,
            &[Given::Previous, Primitive::Size.into()],
        )?
        .then(Primitive::Subgrid, &[Given::Previous, Given::Input(0)])?
        .then(Primitive::Rot90, &[Given::Previous])?;
    println!("on {}:", engine.device().information().name);
    for result in engine
        .run_pipeline(pipeline, &GridBatch::new(&grids))?
        .grids()
    {
        match result {
            Ok(grid) => println!("{}", arc_dsl::Value::from(grid)),
            Err(bail_out) => println!("bail-out: {bail_out}"),
        }
    }
    Ok(())
}
