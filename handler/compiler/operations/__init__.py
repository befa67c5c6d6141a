"""Operations of the author: read, validated, and made ready to be sent."""
