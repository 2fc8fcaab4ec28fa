//! Instants as dates of the Gregorian calendar, after "chrono-Compatible Low-Level Date Algorithms" (Howard Hinnant).

/// A date and a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: u32,
    /// From 1.
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) millis: u32,
    /// Days since 1970-01-01.
    days: i64,
}

const DAY: i64 = 86_400_000;

impl Civil {
    pub(super) fn epoch() -> Self {
        Self::of(0, 0)
    }

    pub(super) fn of(unix_millis: i64, offset_seconds: i32) -> Self {
        let local = unix_millis.saturating_add(i64::from(offset_seconds) * 1000);
        let (days, within) = (local.div_euclid(DAY), local.rem_euclid(DAY) as u32);
        let shifted = days + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 } as u32;
        Self {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month,
            day: (of_year - (153 * from_march + 2) / 5 + 1) as u32,
            hour: within / 3_600_000,
            minute: within / 60_000 % 60,
            second: within / 1000 % 60,
            millis: within % 1000,
            days,
        }
    }

    /// The instant; None for a day that its month does not have.
    pub(super) fn unix_millis(&self, offset_seconds: i32) -> Option<i64> {
        let days = days(self.year, self.month, self.day);
        let time = i64::from((self.hour * 60 + self.minute) * 60 + self.second) * 1000 + i64::from(self.millis);
        let local = days * DAY + time;
        let back = Self::of(local, 0);
        let exists = (back.month, back.day) == (self.month, self.day);
        exists.then(|| local - i64::from(offset_seconds) * 1000)
    }

    /// From 0, which is Thursday, the day of the week of 1970-01-01.
    pub(super) fn weekday(&self) -> usize {
        self.days.rem_euclid(7) as usize
    }

    /// From 1.
    pub(super) fn day_of_year(&self) -> i64 {
        self.days - days(self.year, 1, 1) + 1
    }
}

/// Days since 1970-01-01.
fn days(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = i64::from((month + 9) % 12);
    let of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468
}
