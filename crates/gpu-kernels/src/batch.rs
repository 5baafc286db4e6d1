//! [`Engine::batch`]: runs one program on a batch of grids, in one launch.

use arc_dsl::{Grid, Value};

use crate::device::{Device, DeviceError};
use crate::engine::{Engine, Evaluation};
use crate::interface::BailOut;
use crate::pool::Pool;
use crate::program::DeviceProgram;

impl<D: Device> Engine<D> {
    /// Runs a program of one grid on each of these grids, in one launch. Returns the results in the order of the
    /// grids, or why the device bailed out of an evaluation. A single operation is a program of one call, a pipeline
    /// one of several.
    ///
    /// ```no_run
    /// use arc_dsl::Grid;
    /// use arc_text::parse_programs;
    /// use gpu_kernels::{Engine, encode};
    /// # fn of<D: gpu_kernels::device::Device>(engine: &Engine<D>, grids: &[Grid]) -> Result<(), Box<dyn std::error::Error>> {
    /// let text = "def solve_pipeline(I):\n    x1 = rot90(I)\n    O = replace(x1, 1, 2)\n    return O\n";
    /// let program = parse_programs(text).remove(0)?;
    /// let program = encode(&arc_form::specialise(&program)?)?;
    /// for result in engine.batch(&program, grids)? {
    ///     match result {
    ///         Ok(value) => println!("{value}"),
    ///         Err(bail_out) => println!("for the host: {bail_out}"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn batch(
        &self,
        program: &DeviceProgram,
        grids: &[Grid],
    ) -> Result<Vec<Result<Value, BailOut>>, DeviceError> {
        let mut pool = Pool::default();
        let placed: Vec<_> = grids.iter().map(|grid| pool.push_grid(grid)).collect();
        let fitting = placed.iter().flatten();
        let evaluations: Vec<_> = fitting
            .map(|arguments| Evaluation {
                program: 0,
                arguments: *arguments,
                expected: None,
                fetch: true,
            })
            .collect();
        let programs = self.load(std::slice::from_ref(program))?;
        let (verdicts, results) = self.run(&programs, &pool, &evaluations)?;
        let mut ended = verdicts.into_iter().enumerate().map(|(number, verdict)| {
            let value = || results.value(number).unwrap_or(Value::Nothing);
            verdict.ended().map(|_| value())
        });
        let results = placed.into_iter().filter_map(|place| match place {
            Ok(_) => ended.next(),
            Err(reason) => Some(Err(reason)),
        });
        Ok(results.collect())
    }
}
