//! Random values for generated cases: the same in every run, unless a variable of the environment asks for more.

use odm::bson::Bson;

/// Numbers that look random (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// Begins with `seed`; or, if `variable` is set, with another one that it prints.
    #[expect(
        clippy::print_stdout,
        reason = "whoever runs random cases wants to run them again"
    )]
    pub(crate) fn unless_set(variable: &str, seed: u64) -> Self {
        if std::env::var_os(variable).is_none() {
            return Self(seed);
        }
        let time = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let seed = u64::try_from(time.as_nanos() & u128::from(u64::MAX)).unwrap();
        println!("{variable}: seed {seed}");
        Self(seed)
    }

    /// What makes these numbers again.
    pub(crate) fn seed(&self) -> u64 {
        self.0
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap()
    }

    /// One of the values.
    pub(crate) fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    /// Whether one of `n` equal chances came up.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// The number in a variable of the environment, or `otherwise`.
pub(crate) fn count(variable: &str, otherwise: usize) -> usize {
    let set = std::env::var(variable).ok();
    set.map_or(otherwise, |set| set.parse().unwrap())
}

impl Random {
    /// The same number in another type of BSON, if there is one.
    pub(crate) fn other_number(&mut self, value: &Bson) -> Option<Bson> {
        let whole = match value {
            Bson::Int32(number) => i64::from(*number),
            Bson::Int64(number) => *number,
            #[expect(clippy::cast_possible_truncation, reason = "the numbers are small")]
            Bson::Double(number) if number.fract() == 0.0 => *number as i64,
            _ => return None,
        };
        Some(match self.below(4) {
            0 => Bson::Int32(i32::try_from(whole).ok()?),
            1 => Bson::Int64(whole),
            2 => Bson::Double(i32::try_from(whole).ok()?.into()),
            _ => Bson::Decimal128(whole.to_string().parse().ok()?),
        })
    }

    /// Puts some of the numbers in a value into other types of BSON.
    pub(crate) fn retype(&mut self, value: &mut Bson) {
        match value {
            Bson::Document(fields) => {
                for (_, value) in fields.iter_mut() {
                    self.retype(value);
                }
            }
            Bson::Array(elements) => {
                for value in elements {
                    self.retype(value);
                }
            }
            value if self.one_in(2) => {
                if let Some(other) = self.other_number(value) {
                    *value = other;
                }
            }
            _ => {}
        }
    }
}
