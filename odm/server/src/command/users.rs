//! `usersInfo` and `rolesInfo`: the users that the server was started with. All have the role `root`.

use bson::raw::{RawBsonRef, RawDocument};
use bson::{Bson, Document, doc};
use odm_engine::COMMON_FIELDS;
use odm_engine::args;
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use super::{Call, Command};
use crate::command::sasl::MECHANISM;

pub(super) const USERS_INFO: Command = Command {
    name: "usersInfo",
    run: users_info,
    is_open: false,
};

pub(super) const ROLES_INFO: Command = Command {
    name: "rolesInfo",
    run: roles_info,
    is_open: false,
};

/// The database of all users, and their only role.
const HOME: &str = "admin";
const ROLE: &str = "root";

/// The users or roles that a command requests.
enum Selection<'a> {
    /// All in the command's database.
    Database,
    /// All in any database.
    Everywhere,
    /// Names and databases.
    Named(Vec<(&'a str, &'a str)>),
}

impl Selection<'_> {
    fn has(&self, name: &str, database: &str) -> bool {
        match self {
            Self::Database => database == HOME,
            Self::Everywhere => true,
            Self::Named(named) => named.contains(&(name, HOME)),
        }
    }
}

fn users_info(call: &mut Call<'_>) -> Result<Document, ServerError> {
    let known = [
        "filter",
        "showCredentials",
        "showCustomData",
        "showPrivileges",
    ];
    check_fields(call, &known)?;
    for option in ["filter", "showCredentials", "showPrivileges"] {
        let value = raw::get(call.command, option);
        let is_empty =
            matches!(value, Some(RawBsonRef::Document(filter)) if args::is_empty_document(filter));
        if value.is_some_and(args::truthy) && !is_empty {
            return Err(args::unsupported(&format!(
                "the option 'usersInfo.{option}'"
            )));
        }
    }
    let database = database(call);
    let asked = asked(call, "UserName", "user")?;
    let users = call.state.options.users.keys();
    let users: Vec<_> = users
        .filter(|user| asked.has(user, database))
        .map(|user| {
            doc! {
                "_id": format!("{HOME}.{user}"),
                "user": user,
                "db": HOME,
                "roles": [{ "role": ROLE, "db": HOME }],
                "mechanisms": [MECHANISM],
            }
        })
        .collect();
    Ok(doc! { "users": users })
}

fn roles_info(call: &mut Call<'_>) -> Result<Document, ServerError> {
    let known = [
        "showAuthenticationRestrictions",
        "showBuiltinRoles",
        "showPrivileges",
    ];
    check_fields(call, &known)?;
    if raw::get(call.command, "showPrivileges").is_some_and(args::truthy) {
        return Err(args::unsupported("the option 'rolesInfo.showPrivileges'"));
    }
    let database = database(call);
    let asked = asked(call, "RoleName", "role")?;
    let is_wanted = match asked {
        // Built-in roles are listed only on request.
        Selection::Database | Selection::Everywhere => {
            let builtin = raw::get(call.command, "showBuiltinRoles");
            database == HOME && builtin.is_some_and(args::truthy)
        }
        Selection::Named(_) => asked.has(ROLE, database),
    };
    let role = doc! {
        "role": ROLE, "db": HOME, "isBuiltin": true,
        "roles": Bson::Array(Vec::new()), "inheritedRoles": Bson::Array(Vec::new()),
    };
    let roles: Vec<_> = is_wanted.then_some(role).into_iter().collect();
    Ok(doc! { "roles": roles })
}

fn database<'a>(call: &Call<'a>) -> &'a str {
    let database = raw::get(call.command, "$db");
    database.and_then(RawBsonRef::as_str).unwrap_or_default()
}

fn check_fields(call: &Call<'_>, known: &[&str]) -> Result<(), ServerError> {
    let mut others = raw::elements(call.command).skip(1).map(|(name, _)| name);
    let unknown = others.find(|name| !known.contains(name) && !COMMON_FIELDS.contains(name));
    match unknown {
        Some(name) => Err(args::unknown(call.name, name)),
        None => Ok(()),
    }
}

fn asked<'a>(call: &Call<'a>, what: &str, field: &str) -> Result<Selection<'a>, ServerError> {
    let database = database(call);
    let value = raw::get(call.command, call.name).unwrap_or(RawBsonRef::Null);
    Ok(match value {
        RawBsonRef::Array(names) => Selection::Named(
            raw::values(names)
                .map(|name| named(name, database, what, field))
                .collect::<Result<_, _>>()?,
        ),
        RawBsonRef::Document(wanted) if raw::get(wanted, "forAllDBs").is_some_and(args::truthy) => {
            Selection::Everywhere
        }
        value if args::whole(value) == Some(1) => Selection::Database,
        name => Selection::Named(vec![named(name, database, what, field)?]),
    })
}

fn named<'a>(
    value: RawBsonRef<'a>,
    database: &'a str,
    what: &str,
    field: &str,
) -> Result<(&'a str, &'a str), ServerError> {
    let refuse = |message: String| Err(ServerError::new(Code::BAD_VALUE, message));
    let text = |of: &'a RawDocument, name| raw::get(of, name).and_then(RawBsonRef::as_str);
    match value {
        RawBsonRef::String(name) => Ok((name, database)),
        RawBsonRef::Document(name) => match (text(name, field), text(name, "db")) {
            (Some(user), Some(database)) => Ok((user, database)),
            _ => refuse(format!(
                "{what} has the fields '{field}' and 'db', and no others"
            )),
        },
        _ => refuse(format!("{what} must be either a string or an object")),
    }
}
