//! [`Memo`]: a hash table from keys of words to values.

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A map from keys of words to values. The youngest entries can be removed again when regions close.
///
/// All keys lie in one vector, so a key needs no allocation of its own. A new key is [written](Self::key)
/// behind the others, and stays there if it is entered.
#[derive(Debug)]
pub(super) struct Memo<V> {
    words: Vec<u32>,
    entries: Vec<MemoEntry<V>>,
    /// The youngest entry of each bucket; the number of buckets is a power of two.
    buckets: Vec<u32>,
}

#[derive(Debug)]
struct MemoEntry<V> {
    hash: u32,
    /// The next older entry of the bucket.
    older: u32,
    /// The range of its key in `words`.
    start: u32,
    end: u32,
    value: V,
}

/// No entry.
const NONE: u32 = u32::MAX;

/// The initial number of buckets: most programs need no more.
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

/// The hash of a key that was not found, for entering it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hash(u32);

impl Hash {
    fn of(key: &[u32]) -> Self {
        let mut hasher = FxHasher::default();
        for word in key {
            hasher.write_u32(*word);
        }
        Hash(hasher.finish() as u32)
    }
}

impl<V: Copy> Memo<V> {
    /// The buffer for writing the next key, behind all that are entered.
    pub(super) fn key(&mut self) -> &mut Vec<u32> {
        self.words.truncate(self.entered());
        &mut self.words
    }

    /// The value of the key that was written, or its hash for entering it.
    pub(super) fn find(&self) -> Result<V, Hash> {
        self.find_key(&self.words[self.entered()..])
    }

    /// Enters the key that was written. If the key exists, the younger entry hides the older one until it is
    /// removed.
    pub(super) fn enter(&mut self, Hash(hash): Hash, value: V) {
        if self.entries.len() == self.buckets.len() {
            self.grow();
        }
        let bucket = self.bucket(hash);
        let older = std::mem::replace(&mut self.buckets[bucket], self.entries.len() as u32);
        self.entries.push(MemoEntry {
            hash,
            older,
            start: self.entered() as u32,
            end: self.words.len() as u32,
            value,
        });
    }

    /// The value of a key outside the buffer, or its hash for entering it.
    pub(super) fn find_key(&self, key: &[u32]) -> Result<V, Hash> {
        let Hash(hash) = Hash::of(key);
        let mut at = self.buckets[self.bucket(hash)];
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.hash == hash && self.words[entry.start as usize..entry.end as usize] == *key {
                return Ok(entry.value);
            }
            at = entry.older;
        }
        Err(Hash(hash))
    }

    /// Enters a key from outside the buffer.
    pub(super) fn enter_key(&mut self, hash: Hash, key: &[u32], value: V) {
        self.key().extend(key);
        self.enter(hash, value);
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes all but the `len` oldest entries.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.entries.len() > len
            && let Some(entry) = self.entries.pop()
        {
            let bucket = self.bucket(entry.hash);
            self.buckets[bucket] = entry.older;
        }
    }

    /// The end of the entered keys.
    fn entered(&self) -> usize {
        self.entries.last().map_or(0, |entry| entry.end as usize)
    }

    fn bucket(&self, hash: u32) -> usize {
        hash as usize & (self.buckets.len() - 1)
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
        // Keys of one to three words, all different.
        let key = |n: u32| [n, n / 2, n % 7][..=(n % 3) as usize].to_vec();
        for n in 0..500 {
            // Some are written to the buffer.
            if n % 2 == 0 {
                memo.key().extend(key(n));
                let place = memo.find().unwrap_err();
                memo.enter(place, n);
            } else {
                let place = memo.find_key(&key(n)).unwrap_err();
                memo.enter_key(place, &key(n), n);
            }
            // A key that is written and not entered has no effect.
            memo.key().push(7);
        }
        memo.truncate(300);
        assert_eq!(memo.len(), 300);
        for n in 0..500 {
            assert_eq!(memo.find_key(&key(n)).ok(), (n < 300).then_some(n));
        }
        let place = memo.find_key(&key(400)).unwrap_err();
        memo.enter_key(place, &key(400), 7);
        assert_eq!(memo.find_key(&key(400)).ok(), Some(7));
    }
}
