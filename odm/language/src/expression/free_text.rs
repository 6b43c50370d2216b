//! Dates from texts without a format, by the rules of timelib, which mongod reads them with.
//!
//! The forms here are those of calendars, logs and mail. Others, such as `next week`, are not read: timelib has hundreds of
//! rules, and a wrong date would be worse than none.

use crate::expression::calendar;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Hours east of UTC.
const ZONES: [(&str, i64); 13] = [
    ("z", 0),
    ("utc", 0),
    ("gmt", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
    ("cet", 1),
    ("cest", 2),
];

/// A date that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found<'t> {
    /// The local time, as if it were in UTC.
    pub(super) local: i64,
    /// The zone that the text names, and its milliseconds east of UTC.
    pub(super) zone: Option<(&'t str, i64)>,
}

/// Why there is no date.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// mongod refuses the text.
    Wrong,
    /// The text has no whole date.
    Incomplete,
    /// The text has another form, which mongod may read.
    Unknown,
}

/// Reads a text in any of the known forms.
pub(super) fn read(text: &str) -> Result<Found<'_>, Fault> {
    known_form(text).map_err(|fault| {
        let names_month = || {
            let lower = text.to_ascii_lowercase();
            MONTHS
                .iter()
                .any(|month| month.get(..3).is_some_and(|short| lower.contains(short)))
        };
        match fault {
            Fault::Unknown if calendar::is_no_date(text) && !names_month() => Fault::Wrong,
            fault => fault,
        }
    })
}

fn known_form(text: &str) -> Result<Found<'_>, Fault> {
    if !text.is_ascii() {
        return Err(Fault::Unknown);
    }
    let lower = text.to_ascii_lowercase();
    if let Some(number) = lower.strip_prefix('@') {
        return at_timestamp(number);
    }
    let mut reader = Reader {
        text,
        rest: &lower,
        day: None,
        year: None,
        month_and_day: None,
        time: None,
        zone: None,
        weekday: None,
        is_of_week: false,
        has_micros: false,
        is_compact: false,
    };
    loop {
        reader.rest = reader.rest.trim_start_matches([' ', '\t', ',']);
        if reader.rest.is_empty() {
            return reader.found();
        }
        reader.token()?;
    }
}

/// Seconds since 1970, with a fraction.
fn at_timestamp(number: &str) -> Result<Found<'static>, Fault> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty()
        || digits.len() > 12
        || !is_number(digits)
        || whole.starts_with('-') && !fraction.is_empty()
    {
        return Err(Fault::Unknown);
    }
    let seconds: i64 = whole.parse().map_err(|_| Fault::Unknown)?;
    let part = millis_of(fraction).ok_or(Fault::Unknown)?;
    Ok(Found {
        local: seconds * SECOND + part,
        zone: Some(("@", 0)),
    })
}

/// The milliseconds of the digits after a point.
fn millis_of(fraction: &str) -> Option<i64> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
    millis.parse().ok()
}

struct Reader<'t, 'l> {
    text: &'t str,
    /// The rest of the text, in lower case.
    rest: &'l str,
    /// The day, as its midnight.
    day: Option<i64>,
    year: Option<i64>,
    /// A month and a day, whose year stands elsewhere.
    month_and_day: Option<(i64, i64)>,
    time: Option<i64>,
    zone: Option<(&'t str, i64)>,
    weekday: Option<i64>,
    /// Whether the day is one of a week by ISO 8601.
    is_of_week: bool,
    /// Whether the time has parts of a millisecond.
    has_micros: bool,
    /// Whether the day is one of eight digits.
    is_compact: bool,
}

impl<'t> Reader<'t, '_> {
    /// The offset of the rest in the text.
    fn place(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// The text in front of the rest.
    fn before(&self) -> &'t str {
        self.text.get(..self.place()).unwrap_or_default()
    }

    fn take(&mut self, prefix: char) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes a number of at most this many digits, and returns how many it has.
    fn number(&mut self, most: usize) -> Option<(i64, usize)> {
        let digits = self.rest.bytes().take(most);
        let digits = digits.take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.rest.split_at_checked(digits)?;
        let number = number.parse().ok()?;
        self.rest = rest;
        Some((number, digits))
    }

    fn digits(&self) -> usize {
        let digits = self.rest.bytes();
        digits.take_while(u8::is_ascii_digit).count()
    }

    /// The letters that come next.
    fn word(&self) -> &str {
        let letters = self.rest.bytes();
        let letters = letters.take_while(u8::is_ascii_alphabetic).count();
        self.rest.get(..letters).unwrap_or_default()
    }

    fn skip(&mut self, characters: &[char]) {
        self.rest = self.rest.trim_start_matches(characters);
    }

    fn skip_word(&mut self) {
        let letters = self.word().len();
        self.rest = self.rest.get(letters..).unwrap_or_default();
    }

    /// Takes the name of a month, and returns how many letters it has.
    fn month(&mut self) -> Option<(i64, usize)> {
        let word = self.word();
        let letters = word.len();
        let is_short = word.len() == 3 || word == "sept";
        let at = MONTHS
            .iter()
            .position(|month| *month == word || is_short && month.starts_with(word))?;
        self.skip_word();
        Some((i64::try_from(at + 1).ok()?, letters))
    }

    /// Takes a year, of which two digits stand for one from 1970 to 2069.
    fn year(&mut self) -> Option<i64> {
        if self.digits() > 4 {
            return None;
        }
        match self.number(4)? {
            (year, 4) => Some(year),
            (year @ 70.., 2) => Some(year + 1900),
            (year, 2) => Some(year + 2000),
            _ => None,
        }
    }

    fn set_day(&mut self, year: i64, month: i64, day: i64) -> Result<(), Fault> {
        let is_day =
            (1..=12).contains(&month) && (1..=calendar::days_in_month(year, month)).contains(&day);
        if !is_day || self.day.is_some() || self.month_and_day.is_some() {
            return Err(Fault::Wrong);
        }
        self.day = calendar::midnight(year, month, day);
        Ok(())
    }

    fn set_time(&mut self, time: i64) -> Result<(), Fault> {
        if self.time.is_some() {
            return Err(Fault::Wrong);
        }
        self.time = Some(time);
        Ok(())
    }

    fn token(&mut self) -> Result<(), Fault> {
        match self.rest.bytes().next() {
            Some(b'0'..=b'9') => self.digits_first(),
            Some(b'+' | b'-') => self.offset(self.place()),
            _ => self.word_first(),
        }
    }

    fn word_first(&mut self) -> Result<(), Fault> {
        // `T` before a time, directly behind the date.
        let is_behind_date = self.before().ends_with(|c: char| c.is_ascii_digit());
        if self.word() == "t" && self.day.is_some() && is_behind_date {
            self.skip_word();
            return match self.digits() {
                1 | 2 => self.time_of_day(),
                _ => Err(Fault::Unknown),
            };
        }
        if let Some(month) = self.month() {
            return self.month_first(month);
        }
        let word = self.word();
        let weekday = calendar::WEEKDAYS
            .iter()
            .position(|day| *day == word || word.len() == 3 && day.starts_with(word));
        if let Some(weekday) = weekday {
            if self.weekday.is_some() {
                return Err(Fault::Unknown);
            }
            self.weekday = i64::try_from(weekday).ok();
            // As in timelib, a day of the week begins at midnight.
            self.time = None;
            self.skip_word();
            self.take('.');
            return Ok(());
        }
        let Some((name, hours)) = ZONES.iter().find(|(zone, _)| *zone == word) else {
            return Err(Fault::Unknown);
        };
        let start = self.place();
        self.skip_word();
        if *name == "gmt" && self.rest.starts_with(['+', '-']) {
            return self.offset(start);
        }
        if self.rest.starts_with(['+', '-', '/', '_']) {
            return Err(Fault::Unknown);
        }
        self.set_zone(start, hours * HOUR)
    }

    fn set_zone(&mut self, start: usize, offset: i64) -> Result<(), Fault> {
        if self.zone.is_some() {
            return Err(Fault::Wrong);
        }
        let name = self.text.get(start..self.place()).unwrap_or_default();
        self.zone = Some((name, offset));
        Ok(())
    }

    /// `+2`, `+02`, `+0200` or `+02:00`.
    fn offset(&mut self, start: usize) -> Result<(), Fault> {
        let sign = if self.take('-') { -1 } else { 1 };
        self.take('+');
        let (hours, minutes) = match self.digits() {
            1 | 2 => {
                let (hours, _) = self.number(2).ok_or(Fault::Unknown)?;
                let minutes = if self.take(':') {
                    match self.number(2) {
                        Some((minutes, 2)) => minutes,
                        _ => return Err(Fault::Unknown),
                    }
                } else {
                    0
                };
                (hours, minutes)
            }
            4 => {
                let (both, _) = self.number(4).ok_or(Fault::Unknown)?;
                (both / 100, both % 100)
            }
            _ => return Err(Fault::Unknown),
        };
        // `+2 days` is no zone.
        let behind = self.rest.trim_start_matches([' ', '\t']);
        let is_date = self.time.is_none() && self.day.is_none();
        if behind.starts_with(|c: char| c.is_ascii_alphabetic() || c == ':') || is_date {
            return Err(Fault::Unknown);
        }
        self.set_zone(start, sign * (hours * HOUR + minutes * MINUTE))
    }

    /// `July 4th, 2017`, `Jul-04-2017`, `July 2017` or `Jul 4`.
    fn month_first(&mut self, (month, letters): (i64, usize)) -> Result<(), Fault> {
        if self.take('-') {
            // Only a short name, two digits and four.
            let parts = (letters, self.number(2), self.take('-'), self.digits());
            let (3, Some((day, 2)), true, 4) = parts else {
                return Err(Fault::Unknown);
            };
            let (year, _) = self.number(4).ok_or(Fault::Unknown)?;
            return self.set_day(year, month, day);
        }
        self.skip(&[' ', '\t', '.']);
        match self.digits() {
            4 => {
                let (year, _) = self.number(4).ok_or(Fault::Unknown)?;
                return self.set_day(year, month, 1);
            }
            1 | 2 => {}
            _ => return Err(Fault::Unknown),
        }
        let (day, _) = self.number(2).ok_or(Fault::Unknown)?;
        if day > 31 {
            return Err(Fault::Wrong);
        }
        self.skip_ordinal();
        let before = self.rest;
        self.skip(&[' ', '\t', '.', ',']);
        let is_time = self.rest.get(4..).is_some_and(|rest| rest.starts_with(':'));
        if self.digits() == 4 && !is_time {
            let (year, _) = self.number(4).ok_or(Fault::Unknown)?;
            return self.set_day(year, month, day);
        }
        if self.digits() == 1 {
            // A year of one digit.
            return Err(Fault::Unknown);
        }
        self.rest = before;
        self.set_month_and_day(month, day)
    }

    fn set_month_and_day(&mut self, month: i64, day: i64) -> Result<(), Fault> {
        if self.day.is_some() || self.month_and_day.is_some() {
            return Err(Fault::Wrong);
        }
        self.month_and_day = Some((month, day));
        Ok(())
    }

    fn skip_ordinal(&mut self) {
        if matches!(self.word(), "st" | "nd" | "rd" | "th") {
            self.skip_word();
        }
    }

    fn digits_first(&mut self) -> Result<(), Fault> {
        let behind = self.rest.get(self.digits()..).unwrap_or_default();
        match (self.digits(), behind.bytes().next()) {
            (4, Some(b'-' | b'/' | b':' | b'w' | b' ' | b'.')) => self.year_first(),
            (4, None) if self.time.is_some() => self.year_first(),
            (8 | 14, _) if self.day.is_none() => {
                let (date, _) = self.number(8).ok_or(Fault::Unknown)?;
                self.set_day(date / 10_000, date / 100 % 100, date % 100)?;
                self.is_compact = true;
                if self.digits() == 6 {
                    return self.compact_time();
                }
                Ok(())
            }
            (6, _) if self.day.is_some() => self.compact_time(),
            (1 | 2, _) => self.day_or_time(),
            // Four digits alone are a time, which has no date.
            (4, None) if self.day.is_none() && self.month_and_day.is_none() => {
                Err(Fault::Incomplete)
            }
            _ => Err(Fault::Unknown),
        }
    }

    /// `103015`
    fn compact_time(&mut self) -> Result<(), Fault> {
        let (time, _) = self.number(6).ok_or(Fault::Unknown)?;
        let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
        if hour > 23 || minute > 59 || second > 59 {
            return Err(Fault::Unknown);
        }
        self.set_time(hour * HOUR + minute * MINUTE + second * SECOND)
    }

    /// `2017-7-4`, `2017-07`, `2017/7/4`, `2017:07:04`, `2017-W05-3`, `2017 Jul`, or a year alone.
    fn year_first(&mut self) -> Result<(), Fault> {
        let (year, _) = self.number(4).ok_or(Fault::Unknown)?;
        let after_year = self.rest;
        self.take('-');
        if self.take('w') {
            let Some((week, 2)) = self.number(2) else {
                return Err(Fault::Unknown);
            };
            self.take('-');
            let day = match self.digits() {
                0 => 1,
                _ => self.number(1).map_or(1, |(day, _)| day),
            };
            if self.day.is_some() || !(1..=53).contains(&week) || !(1..=7).contains(&day) {
                return Err(Fault::Unknown);
            }
            self.day = calendar::iso_day(year, week, day);
            self.is_of_week = true;
            return Ok(());
        }
        self.rest = after_year;
        if let Some(separator) = ['-', '/', ':'].into_iter().find(|c| self.take(*c)) {
            if self.digits() > 2 {
                return Err(Fault::Unknown);
            }
            let (month, _) = self.number(2).ok_or(Fault::Unknown)?;
            if !(1..=12).contains(&month) {
                return Err(Fault::Unknown);
            }
            if !self.take(separator) {
                let is_end = !self
                    .rest
                    .starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
                return if separator == '-' && is_end {
                    self.set_day(year, month, 1)
                } else {
                    Err(Fault::Unknown)
                };
            }
            if self.digits() > 2 {
                return Err(Fault::Unknown);
            }
            let (day, _) = self.number(2).ok_or(Fault::Unknown)?;
            return self.set_day(year, month, day);
        }
        self.skip(&[' ', '\t', '.', '-']);
        if self.day.is_none()
            && self.month_and_day.is_none()
            && let Some((month, _)) = self.month()
        {
            return self.set_day(year, month, 1);
        }
        self.rest = after_year;
        if self.time.is_none() || self.year.is_some() || self.day.is_some() {
            return Err(Fault::Unknown);
        }
        self.year = Some(year);
        Ok(())
    }

    /// `7/4/2017`, `7/Dec/2017:`, `4.7.2017`, `17-07-04`, `4 July 2017`, `10:30` or `10 pm`.
    fn day_or_time(&mut self) -> Result<(), Fault> {
        let start = self.rest;
        let (first, first_digits) = self.number(2).ok_or(Fault::Unknown)?;
        if self.take('/') {
            if let Some((month, _)) = self.month() {
                // Only logs write it so, with the time behind.
                if first_digits != 2 || !self.take('/') || self.digits() != 4 {
                    return Err(Fault::Unknown);
                }
                let year = self.year().ok_or(Fault::Unknown)?;
                if !self.take(':') {
                    return Err(Fault::Unknown);
                }
                return self.set_day(year, month, first);
            }
            let (day, _) = self.number(2).ok_or(Fault::Unknown)?;
            if !(1..=12).contains(&first) || day > 31 {
                return Err(Fault::Unknown);
            }
            if self.take('/') {
                let year = self.year().ok_or(Fault::Unknown)?;
                return self.set_day(year, first, day);
            }
            return self.set_month_and_day(first, day);
        }
        if self.rest.starts_with(['.', '-']) {
            let separator = self.rest.bytes().next();
            let mut inner = self.rest.get(1..).unwrap_or_default().splitn(3, ['.', '-']);
            let (second, third) = (inner.next(), inner.next());
            let length = |part: Option<&str>| {
                let digits = part.map(|part| part.bytes().take_while(u8::is_ascii_digit).count());
                digits.unwrap_or(0)
            };
            match (separator, length(second), length(third)) {
                (_, 1 | 2, 4) => {
                    self.rest = self.rest.get(1..).unwrap_or_default();
                    let (month, _) = self.number(2).ok_or(Fault::Unknown)?;
                    self.rest = self.rest.get(1..).unwrap_or_default();
                    let year = self.year().ok_or(Fault::Unknown)?;
                    if !(1..=12).contains(&month) {
                        return Err(Fault::Unknown);
                    }
                    return self.set_day(year, month, first);
                }
                (Some(b'-'), 2, 2) if first_digits == 2 => {
                    self.rest = start;
                    let year = self.year().ok_or(Fault::Unknown)?;
                    self.take('-');
                    let (month, _) = self.number(2).ok_or(Fault::Unknown)?;
                    self.take('-');
                    let (day, _) = self.number(2).ok_or(Fault::Unknown)?;
                    return self.set_day(year, month, day);
                }
                _ => {}
            }
        }
        self.skip_ordinal();
        self.skip(&[' ', '\t', '.', '-']);
        if let Some((month, _)) = self.month() {
            let behind_month = self.rest;
            self.skip(&[' ', '\t', '.', '-']);
            let is_time = matches!(self.rest.as_bytes().get(self.digits()), Some(b':'));
            if matches!(self.digits(), 2 | 4) && !is_time {
                let year = self.year().ok_or(Fault::Unknown)?;
                return self.set_day(year, month, first);
            }
            self.rest = behind_month;
            return self.set_month_and_day(month, first);
        }
        self.rest = start;
        self.time_of_day()
    }

    /// `10:30`, `10.30`, `10:30:15.25`, `10:30 PM`, `10pm`.
    fn time_of_day(&mut self) -> Result<(), Fault> {
        let is_of_date = self.day.is_some() && self.before().ends_with(['t', 'T']);
        let (hour, _) = self.number(2).ok_or(Fault::Unknown)?;
        let mut time = 0;
        let has_colon = self.rest.starts_with(':');
        let has_minutes = self.rest.starts_with([':', '.']);
        if has_minutes {
            self.rest = self.rest.get(1..).unwrap_or_default();
            let Some((minute, 2)) = self.number(2) else {
                return Err(Fault::Unknown);
            };
            time += minute * MINUTE;
            let mut second = 0;
            if self.rest.starts_with([':', '.']) {
                self.rest = self.rest.get(1..).unwrap_or_default();
                let Some((seconds, 2)) = self.number(2) else {
                    return Err(Fault::Unknown);
                };
                second = seconds;
                if self.take('.') {
                    let digits = self.digits();
                    let fraction = self.rest.get(..digits).unwrap_or_default();
                    time += millis_of(fraction).ok_or(Fault::Unknown)?;
                    self.has_micros = fraction.trim_end_matches('0').len() > 3;
                    self.rest = self.rest.get(digits..).unwrap_or_default();
                }
            }
            if minute > 59 || second > 59 {
                return Err(Fault::Unknown);
            }
            time += second * SECOND;
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Fault::Unknown);
        }
        match self.meridian() {
            Some(half) if (1..=12).contains(&hour) && !is_of_date => {
                self.set_time(time + (hour % 12 + half) * HOUR)
            }
            None if has_minutes || is_of_date => {
                if hour > 23 {
                    // `28.07.17` is a day, and a day of the week behind takes back the hour 24.
                    return Err(if has_colon && hour > 24 {
                        Fault::Wrong
                    } else {
                        Fault::Unknown
                    });
                }
                self.set_time(time + hour * HOUR)
            }
            _ => Err(Fault::Unknown),
        }
    }

    /// Takes `am`, `a.m.`, `pm` or `p.m.`, and returns the hours that it adds.
    fn meridian(&mut self) -> Option<i64> {
        let rest = self.rest.trim_start_matches([' ', '\t']);
        for (name, hours) in [("am", 0), ("a.m.", 0), ("pm", 12), ("p.m.", 12)] {
            if let Some(rest) = rest.strip_prefix(name)
                && (rest.is_empty() || rest.starts_with([' ', '\t']))
            {
                self.rest = rest;
                return Some(hours);
            }
        }
        None
    }

    fn found(mut self) -> Result<Found<'t>, Fault> {
        if let (Some((month, day)), Some(year)) = (self.month_and_day.take(), self.year) {
            self.set_day(year, month, day)?;
        } else if self.year.is_some() {
            return Err(Fault::Unknown);
        }
        let day = self.day.ok_or(Fault::Incomplete)?;
        // timelib rounds a time before 1970 up, and counts the days of a week from another day.
        let is_odd = day < 0 || self.is_compact || self.year.is_some();
        if self.has_micros && is_odd || self.is_of_week && self.weekday.is_some() {
            return Err(Fault::Unknown);
        }
        let moved = self.weekday.map_or(0, |weekday| {
            let is = calendar::day_of_week(day) - 1;
            (weekday - is).rem_euclid(7) * DAY
        });
        Ok(Found {
            local: day + moved + self.time.unwrap_or(0),
            zone: self.zone,
        })
    }
}
