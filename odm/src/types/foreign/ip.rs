//! Addresses of the internet as text, for `#[serde(with = "odm::ip")]`: `IpAddr`, `Ipv4Addr`, `Ipv6Addr`, `SocketAddr`,
//! `SocketAddrV4` and `SocketAddrV6`.
//!
//! The text is the one that `Display` writes, so equal addresses have equal text. It does not sort by number: `10.0.0.2` sorts
//! behind `10.0.0.10`. For ranges of addresses, store the number (`u32::from(address)`) in a field beside it.
//!
//! ```
//! use std::net::IpAddr;
//! use odm::prelude::*;
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[odm(collection = "hosts", index(address))]
//! struct Host {
//!     #[serde(rename = "_id")]
//!     id: i32,
//!     #[serde(with = "odm::ip")]
//!     address: IpAddr,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let host = odm::query::fields::<Host>();
//! let address: IpAddr = "10.0.0.7".parse()?;
//! assert_eq!(host.address.eq(address).to_document()?, doc! {"address": "10.0.0.7"});
//! assert_eq!(host.address.starts_with("10.0.").to_document()?, doc! {"address": {"$regex": r"^10\.0\."}});
//! # Ok(())
//! # }
//! ```

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use super::bare::bare;
use super::stored_as::{ConversionError, StoredAs};

/// How this module stores an address.
#[doc(hidden)]
#[derive(Debug)]
pub enum Address {}

serializer!(Address);

bare! {
    [] IpAddr: String, "std::net::IpAddr", "a document of numbers", "text", "odm::ip";
    [] Ipv4Addr: String, "std::net::Ipv4Addr", "a list of numbers", "text", "odm::ip";
    [] Ipv6Addr: String, "std::net::Ipv6Addr", "a list of numbers", "text", "odm::ip";
    [] SocketAddr: String, "std::net::SocketAddr", "a document of numbers", "text", "odm::ip";
    [] SocketAddrV4: String, "std::net::SocketAddrV4", "a list of numbers", "text", "odm::ip";
    [] SocketAddrV6: String, "std::net::SocketAddrV6", "a list of numbers", "text", "odm::ip";
}

macro_rules! addresses {
    ($($type:ty: $name:literal;)*) => {$(
        impl StoredAs<$type> for Address {
            type Stored = String;

            fn to_stored(value: &$type) -> Result<String, ConversionError> {
                let text = value.to_string();
                if text.parse() != Ok(*value) {
                    return Err(ConversionError::new(format!(
                        "{text} has flow information, which its text does not have"
                    )));
                }
                Ok(text)
            }

            fn from_stored(text: String) -> Result<$type, ConversionError> {
                text.parse()
                    .map_err(|_| ConversionError::new(format!("{text:?} is not an `{}`", $name)))
            }
        }
    )*};
}

addresses! {
    IpAddr: "IpAddr";
    Ipv4Addr: "Ipv4Addr";
    Ipv6Addr: "Ipv6Addr";
    SocketAddr: "SocketAddr";
    SocketAddrV4: "SocketAddrV4";
    SocketAddrV6: "SocketAddrV6";
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn addresses_are_read_back(four: u32, six: u128, port: u16, flow: u32) {
            for address in [IpAddr::V4(four.into()), IpAddr::V6(six.into())] {
                let text = Address::to_stored(&address).unwrap();
                prop_assert_eq!(Address::from_stored(text), Ok(address));
            }
            let socket = SocketAddrV6::new(six.into(), port, 0, flow);
            let text = Address::to_stored(&socket).unwrap();
            prop_assert_eq!(Address::from_stored(text), Ok(socket));
        }
    }

    #[test]
    fn flow_information_of_sockets_is_refused() {
        let socket = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 7, 0);
        assert!(Address::to_stored(&socket).is_err());
        assert!(Address::to_stored(&SocketAddr::V6(socket)).is_err());
    }
}
