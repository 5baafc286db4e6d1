//! The most similar name to one that is unknown.

/// For longer names no similar one is searched: the search stays cheap for any text.
const LONGEST: usize = 40;

/// The most similar of the candidates, the first one if there are several; `None` if none is similar enough: up to a
/// quarter of the letters may differ, and the case of all.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    candidates
        .filter_map(|candidate| {
            let candidate_length = candidate.chars().count();
            let far = length.max(candidate_length) / 4;
            // Most candidates are too long or too short, so their letters need not be compared.
            if length.abs_diff(candidate_length) > far {
                return None;
            }
            let distance = strsim::osa_distance(&wanted, &candidate.to_lowercase());
            (distance <= far).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

/// The first of these keys that is similar to `key`, the name that was expected, without being it.
pub fn misspelt<'a>(key: &str, mut found: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    found.find(|found| *found != key && nearest(found, std::iter::once(key)).is_some())
}

#[cfg(test)]
mod tests {
    use arc_isa::Primitive;

    use super::*;

    fn nearest_primitive(name: &str) -> Option<String> {
        nearest(
            name,
            Primitive::ALL.iter().map(|primitive| primitive.name()),
        )
    }

    #[test]
    fn the_nearest_name_is_told_where_one_is_near() {
        assert_eq!(nearest_primitive("vmiror").as_deref(), Some("vmirror"));
        assert_eq!(
            nearest_primitive("mostcolour").as_deref(),
            Some("mostcolor")
        );
        assert_eq!(nearest_primitive("fil").as_deref(), Some("fill"));
        assert_eq!(nearest_primitive("Flip").as_deref(), Some("flip"));
        assert_eq!(nearest_primitive("wibble"), None);
        assert_eq!(nearest("x3", ["x1", "x2"].into_iter()), None);
        assert_eq!(nearest("o", ["I", "O"].into_iter()).as_deref(), Some("O"));
        assert_eq!(nearest_primitive(&"a".repeat(10_000)), None);
    }
}
