INSERT INTO callhouse.calls SELECT * FROM callhouse.calls_folded
