//! Who owns which part of the URL space, mail between the parts, and control messages.
