//! [`Ranker`]: which of the stacks that fit are given as attempts.

use crate::compose::Stack;

/// Says how good a stack is.
pub trait Ranker {
    /// The greater, the better. Of stacks that are as good the one stays first that was made first.
    fn score(&self, stack: &Stack) -> f64;
}

/// By the train pairs on which a stack is right, less a little for what it costs and for each piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByFit {
    /// What one more of the greatest cost takes away. Default 0.
    pub cost: f64,
    /// What a piece takes away. Default 0.001.
    pub piece: f64,
    /// What one more of the costs together takes away. Default 0.01.
    pub total: f64,
}

impl Default for ByFit {
    fn default() -> Self {
        Self {
            cost: 0.0,
            piece: 0.001,
            total: 0.01,
        }
    }
}

impl Ranker for ByFit {
    fn score(&self, stack: &Stack) -> f64 {
        f64::from(stack.fits)
            - self.cost * f64::from(stack.cost)
            - self.piece * stack.layers.len() as f64
            - self.total * f64::from(stack.total)
    }
}
