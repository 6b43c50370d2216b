//! What a program of a user needs, in one import.
