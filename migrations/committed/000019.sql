--! Previous: sha1:716af7ab5495aac4acd848c8378f63e270a43719
--! Hash: sha1:c0ece4a29d4ff5872ce5bdb34445d4cfb2edd679

-- Also so that no program of before starts beside this one or after it: views have more columns now, which it cannot take back, and its
-- functions do not answer all that processes of this version read.
comment on schema svc_inspect is 'Stable, commented views for people with psql.';
