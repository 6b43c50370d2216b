//! Update operators and pipelines, applied to one document.
