//! Set displays of constants, of which CPython keeps one for all that are equal.

use std::collections::HashMap;

use arc_dsl::{Container, Dialect, Value};

use super::Module;
use super::lowering::Lowering;
use crate::lexer::Block;
use crate::tokens::Tokens;
use crate::tree::ExprKind;

/// The elements of the set of these, as their texts tell them apart: truth values are no numbers here.
fn members(elements: &[Value]) -> Vec<String> {
    let set = Value::set(elements.iter().cloned());
    let members = set.as_container().into_iter().flat_map(Container::iter);
    let mut members: Vec<String> = members.map(|member| member.to_string()).collect();
    members.sort();
    members
}

impl Module<'_> {
    /// The elements of a display that is a constant, in the order in which the text first displays them. CPython from 3.9
    /// on keeps one constant for equal displays of a file (`merge_consts_recursive` in Python/compile.c).
    pub(crate) fn displayed_first(&self, elements: Vec<Value>) -> Vec<Value> {
        let displays = self.displays.get_or_init(|| self.displays());
        let first = displays.get(&members(&elements));
        first.cloned().unwrap_or(elements)
    }

    /// The text's displays of constants, those of equal elements once.
    fn displays(&self) -> HashMap<Vec<String>, Vec<Value>> {
        let mut displays = HashMap::new();
        if self.text.matches('{').nth(1).is_none() {
            return displays;
        }
        let mut block = Block::default();
        self.lexer().read_lines(&mut block);
        let mut tokens = Tokens::new(self.text, &block);
        for (place, token) in block.tokens.iter().enumerate() {
            if !token.is("{") {
                continue;
            }
            tokens.go_to(place);
            let Ok(ExprKind::Set(set)) = tokens.expression(0).map(|display| display.kind) else {
                continue;
            };
            // Two elements are added one by one, unless a loop or `in` takes the display.
            let (elements, has_names) = *set;
            let is_taken = place > 0 && block.tokens[place - 1].is_name("in");
            if has_names || (elements.len() < 3 && !is_taken) {
                continue;
            }
            let mut lowering = Lowering::new(self.text, &block, Dialect::Public);
            if let Ok(elements) = lowering.displayed(&elements) {
                displays.entry(members(&elements)).or_insert(elements);
            }
        }
        displays
    }
}
