//! Intended deviations.
use arc_dsl::EvalError;

pub(crate) enum Deviation {
    Limit,
}

impl Deviation {
    pub(crate) fn explains(
        ours: &Result<String, EvalError>,
        _theirs: Option<&str>,
    ) -> Option<Deviation> {
        match ours {
            Err(error) if error.limit().is_some() => Some(Deviation::Limit),
            _ => None,
        }
    }
}
