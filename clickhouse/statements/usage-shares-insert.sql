-- Stores the shares of spans: rows of the columns of usage_shares.
INSERT INTO callhouse.usage_shares
FORMAT JSONCompactEachRow
${rows}
