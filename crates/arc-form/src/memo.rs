//! [`Memo`]: what was made before, by what it was made of.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Values by keys of words. The youngest can be taken out again, as regions close.
///
/// All keys lie in one vector, so that a key costs no memory of its own.
#[derive(Debug)]
pub(super) struct Memo<V> {
    words: Vec<u32>,
    entries: Vec<Entry<V>>,
    /// The youngest entry of each bucket. Their number is a power of two.
    buckets: Vec<u32>,
}

#[derive(Debug)]
struct Entry<V> {
    hash: u32,
    /// The next older entry of the bucket.
    older: u32,
    /// Where its key begins; it ends where that of the next entry does.
    start: u32,
    value: V,
}

/// Stands for no entry.
const NONE: u32 = u32::MAX;

/// The buckets of an empty table: most programs need no more.
const BUCKETS: usize = 64;

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self {
            words: Vec::with_capacity(4 * BUCKETS),
            entries: Vec::with_capacity(BUCKETS / 2),
            buckets: vec![NONE; BUCKETS],
        }
    }
}

/// Where a key is to be entered that was not found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hash(u32);

impl<V: Copy> Memo<V> {
    /// What is needed to enter a key, in place of what stands there too.
    pub(super) fn hash(key: &[u32]) -> Hash {
        let mut hasher = FxHasher::default();
        for word in key {
            hasher.write_u32(*word);
        }
        Hash(hasher.finish() as u32)
    }

    /// The value of the key, or what is needed to enter it.
    pub(super) fn find(&self, key: &[u32]) -> Result<V, Hash> {
        let Hash(hash) = Self::hash(key);
        let mut at = self.buckets[self.bucket(hash)];
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.hash == hash && self.key(at as usize) == key {
                return Ok(entry.value);
            }
            at = entry.older;
        }
        Err(Hash(hash))
    }

    /// Enters a key; where it is there, the younger one is found until it is taken out.
    pub(super) fn enter(&mut self, Hash(hash): Hash, key: &[u32], value: V) {
        if self.entries.len() == self.buckets.len() {
            self.grow();
        }
        let bucket = self.bucket(hash);
        self.entries.push(Entry {
            hash,
            older: self.buckets[bucket],
            start: self.words.len() as u32,
            value,
        });
        self.words.extend_from_slice(key);
        self.buckets[bucket] = self.entries.len() as u32 - 1;
    }

    /// How many keys it has.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes all out but the oldest so many.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.entries.len() > len
            && let Some(entry) = self.entries.pop()
        {
            let bucket = self.bucket(entry.hash);
            self.buckets[bucket] = entry.older;
            self.words.truncate(entry.start as usize);
        }
    }

    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    fn key(&self, at: usize) -> &[u32] {
        let end = self.entries.get(at + 1);
        let end = end.map_or(self.words.len(), |next| next.start as usize);
        &self.words[self.entries[at].start as usize..end]
    }

    fn grow(&mut self) {
        self.buckets = vec![NONE; 2 * self.buckets.len()];
        for at in 0..self.entries.len() {
            let bucket = self.bucket(self.entries[at].hash);
            self.entries[at].older = std::mem::replace(&mut self.buckets[bucket], at as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_youngest_keys_go_and_the_others_stay() {
        let mut memo = Memo::default();
        // Keys of one to three words, of which no two are alike.
        let key = |n: u32| [n, n / 2, n % 7][..=(n % 3) as usize].to_vec();
        for n in 0..500 {
            let place = memo.find(&key(n)).unwrap_err();
            memo.enter(place, &key(n), n);
        }
        memo.truncate(300);
        assert_eq!(memo.len(), 300);
        for n in 0..500 {
            assert_eq!(memo.find(&key(n)).ok(), (n < 300).then_some(n));
        }
        let place = memo.find(&key(400)).unwrap_err();
        memo.enter(place, &key(400), 7);
        assert_eq!(memo.find(&key(400)).ok(), Some(7));
    }
}
