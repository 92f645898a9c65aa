"""What the tests of the laboratory share."""

from lab.toys import toy_claims as toy_claims
