-- The same API as functions of PostgreSQL, which PostGraphile makes fields of. Each schema is a variant.
CREATE SCHEMA plain;
CREATE SCHEMA renamed;
CREATE SCHEMA enum;
CREATE SCHEMA changed;

CREATE TYPE plain.color AS ENUM ('RED', 'GREEN');
CREATE TYPE enum.color AS ENUM ('RED', 'GREEN', 'PURPLE');
CREATE TYPE changed.color AS ENUM ('RED');
CREATE TABLE plain.payment (id serial PRIMARY KEY, amount integer NOT NULL);
COMMENT ON TABLE plain.payment IS '@omit';

CREATE FUNCTION plain.fails() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN RAISE EXCEPTION 'the stock system is down'; END $$;
CREATE FUNCTION plain.total() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 3';
CREATE FUNCTION plain.paint(color plain.color, mode text) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION changed.paint(color changed.color, mode integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION plain.coat() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION changed.coat(layers integer) RETURNS integer LANGUAGE sql STABLE STRICT AS 'SELECT 1';
CREATE FUNCTION renamed.sum() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 3';
CREATE FUNCTION plain.color() RETURNS plain.color LANGUAGE sql STABLE AS $$ SELECT 'RED'::plain.color $$;
CREATE FUNCTION enum.color() RETURNS enum.color LANGUAGE sql STABLE AS $$ SELECT 'PURPLE'::enum.color $$;
CREATE FUNCTION plain.cut() RETURNS text LANGUAGE sql STABLE AS $$ SELECT left('Party 🎉', 7) $$;
CREATE FUNCTION plain.paid() RETURNS integer LANGUAGE sql STABLE AS 'SELECT count(*)::integer FROM plain.payment';
CREATE FUNCTION plain.receipt(payment integer) RETURNS plain.color LANGUAGE sql STABLE AS $$ SELECT 'RED'::plain.color $$;
CREATE FUNCTION plain.pay(slow boolean) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO plain.payment (amount) VALUES (1);
  IF slow THEN PERFORM pg_sleep(2.5); END IF;
  RETURN 1;
END $$;
