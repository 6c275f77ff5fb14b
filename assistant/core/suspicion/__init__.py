"""Suspicion in pieces: sentences and their cues, disguises, imitated structure; see `core.injection`."""
