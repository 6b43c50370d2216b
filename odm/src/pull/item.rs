//! The structs and enums to write.

/// A struct or an enum.
#[derive(Debug)]
pub(super) struct Item {
    /// The wanted name.
    pub(super) name: String,
    /// The name in case the wanted one is taken: with that of the item around it.
    pub(super) long_name: String,
    /// The collection, if this is a model.
    pub(super) collection: Option<String>,
    /// Stored fields that documents have and the struct does not declare.
    pub(super) left_out: Vec<String>,
    /// Whether no document was read.
    pub(super) is_empty: bool,
    pub(super) docs: Vec<String>,
    /// Comments about definitions that no attribute declares.
    pub(super) comments: Vec<String>,
    /// The contents of `#[odm(…)]`, each in an attribute of its own.
    pub(super) attributes: Vec<Attribute>,
    pub(super) body: Body,
}

/// The fields or variants of an item.
#[derive(Debug)]
pub(super) enum Body {
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
}

impl Item {
    /// The fields of a struct.
    pub(super) fn fields(&self) -> &[Field] {
        match &self.body {
            Body::Struct(fields) => fields,
            Body::Enum(_) => &[],
        }
    }
}

/// A field of a struct.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) stored: String,
    pub(super) ident: String,
    pub(super) docs: Vec<String>,
    pub(super) comments: Vec<String>,
    /// The contents of `#[serde(…)]`, each in an attribute of its own; without `rename`.
    pub(super) serde: Vec<String>,
    /// The contents of `#[odm(…)]`.
    pub(super) odm: Vec<String>,
    pub(super) ty: Type,
    /// Whether it holds the fields that can't be declared.
    pub(super) is_rest: bool,
}

/// A variant of an enum.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    pub(super) stored: String,
    pub(super) ident: String,
    pub(super) docs: Vec<String>,
}

/// The content of an attribute of a struct, in which fields are named as in Rust.
#[derive(Debug, Default, Clone)]
pub(super) struct Attribute(pub(super) Vec<Piece>);

/// A part of an attribute.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Text(String),
    /// A field of an item, by its stored name.
    Field(usize, String),
}

impl Attribute {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    pub(super) fn push(&mut self, text: &str) {
        self.0.push(Piece::Text(text.to_owned()));
    }
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    /// A type of another crate, or of Rust.
    Plain(&'static str),
    /// An item.
    Named(usize),
    /// The `Id` of a model.
    Id(usize),
    Ref(usize),
    DbRef(usize),
    Option(Box<Self>),
    Vec(Box<Self>),
    Map(Box<Self>),
    Boxed(Box<Self>),
}

pub(super) const ANY: Type = Type::Plain("bson::Bson");
pub(super) const DOCUMENT: Type = Type::Plain("bson::Document");
pub(super) const ANY_DB_REF: Type = Type::Plain("AnyDbRef");

impl Type {
    pub(super) fn option(self) -> Self {
        Self::Option(Box::new(self))
    }

    pub(super) fn vec(self) -> Self {
        Self::Vec(Box::new(self))
    }

    pub(super) fn map(self) -> Self {
        Self::Map(Box::new(self))
    }

    /// The type of what a field holds, inside `Option`, `Vec` and the like.
    pub(super) fn innermost(&self) -> &Self {
        match self {
            Self::Option(inner) | Self::Vec(inner) | Self::Map(inner) | Self::Boxed(inner) => {
                inner.innermost()
            }
            other => other,
        }
    }

    /// The type without `Option` and `Box`.
    pub(super) fn stored(&self) -> &Self {
        match self {
            Self::Option(inner) | Self::Boxed(inner) => inner.stored(),
            other => other,
        }
    }

    /// How many lists and maps are around what a field holds.
    pub(super) fn containers(&self) -> usize {
        match self {
            Self::Vec(inner) | Self::Map(inner) => inner.containers() + 1,
            Self::Option(inner) | Self::Boxed(inner) => inner.containers(),
            _ => 0,
        }
    }

    /// The same type with something else inside.
    pub(super) fn around(self, innermost: Self) -> Self {
        match self {
            Self::Option(inner) => inner.around(innermost).option(),
            Self::Vec(inner) => inner.around(innermost).vec(),
            Self::Map(inner) => inner.around(innermost).map(),
            Self::Boxed(inner) => Self::Boxed(Box::new(inner.around(innermost))),
            _ => innermost,
        }
    }

    /// The item that the type leads to.
    pub(super) fn item(&self) -> Option<usize> {
        match self.innermost() {
            Self::Named(item) => Some(*item),
            _ => None,
        }
    }

    /// The type as Rust writes it; `name` has the names of the items.
    pub(super) fn spelled(&self, name: &impl Fn(usize) -> String) -> String {
        match self {
            Self::Plain(name) => (*name).to_owned(),
            Self::Named(item) => name(*item),
            Self::Id(item) => format!("Id<{}>", name(*item)),
            Self::Ref(item) => format!("Ref<{}>", name(*item)),
            Self::DbRef(item) => format!("DbRef<{}>", name(*item)),
            Self::Option(inner) => format!("Option<{}>", inner.spelled(name)),
            Self::Vec(inner) => format!("Vec<{}>", inner.spelled(name)),
            Self::Map(inner) => format!("BTreeMap<String, {}>", inner.spelled(name)),
            Self::Boxed(inner) => format!("Box<{}>", inner.spelled(name)),
        }
    }
}
