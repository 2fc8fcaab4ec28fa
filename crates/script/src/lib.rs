//! What a virtual user does: one request, a list of URLs, placeholders; the words in which people write loads and objectives.
