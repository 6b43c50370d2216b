//! Writes whose plan no longer says what they would do.

use std::fmt;

use super::{Error, Kind};

/// Why a plan does not hold for a write.
#[derive(Debug)]
pub(crate) enum OutdatedPlanError {
    /// What the plan has read is different now.
    Differences(Vec<String>),
    /// The plan was made of another call.
    OtherCall,
}

impl fmt::Display for OutdatedPlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differences(differences) => write!(
                f,
                "the plan is outdated, and this call has written nothing: {}: make the plan again",
                differences.join("; ")
            ),
            Self::OtherCall => f.write_str(
                "the plan was made of a call with another collection, filter or change, and this call has written nothing: pass \
                 the plan of this call",
            ),
        }
    }
}

impl From<OutdatedPlanError> for Kind {
    fn from(error: OutdatedPlanError) -> Self {
        Self::OutdatedPlan(error)
    }
}

impl Error {
    /// Whether a write that [expects a plan](crate::write::Atomic::expecting) was refused: documents have changed since the plan was
    /// made, or it is the plan of another call. The write has written nothing.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/copies.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let db = two_hosts().await?;
    /// let (hosts, messages) = (db.collection::<Host>(), db.collection::<LogMessage>());
    /// let change = || hosts.update_by_id(&1, |h| h.ipaddr.set("127.0.0.9")).propagate();
    /// let plan = change().plan().await?;
    /// messages.delete_one(|m| m.id.eq(3)).await?;
    ///
    /// let error = change().expecting(&plan).await.unwrap_err();
    /// assert!(error.is_outdated_plan());
    /// assert!(error.to_string().contains("3 documents planned, 2 now"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_outdated_plan(&self) -> bool {
        matches!(self.kind(), Kind::OutdatedPlan(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outdated_plans_say_what_differs() {
        let differences = ["hosts: other documents match", "logmsg: 3 planned, 4 now"];
        let differences = differences.map(str::to_owned).to_vec();
        let error = Error::new(OutdatedPlanError::Differences(differences)).with_model("Host");
        assert!(error.is_outdated_plan() && !error.is_usage() && !error.is_stale());
        assert_eq!(
            error.to_string(),
            "Host: the plan is outdated, and this call has written nothing: hosts: other documents match; logmsg: 3 planned, 4 \
             now: make the plan again"
        );
        let error = Error::new(OutdatedPlanError::OtherCall);
        assert!(error.is_outdated_plan());
        assert!(error.to_string().contains("another collection"), "{error}");
    }
}
