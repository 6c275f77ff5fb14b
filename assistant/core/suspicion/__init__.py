"""Suspicion in pieces: sentences, what they order and from whom, disguises, imitated structure; see `core.injection`."""
