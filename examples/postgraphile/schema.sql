-- A shop's customers and orders. PostgreSQL itself decides which rows a customer gets: row-level security.

-- Who the API connects as. By itself it may read nothing; for each request it becomes shop_customer.
CREATE ROLE shop_api LOGIN NOINHERIT;
CREATE ROLE shop_customer NOLOGIN;
GRANT shop_customer TO shop_api;

CREATE SCHEMA shop;

CREATE TABLE shop.customer (
    id integer PRIMARY KEY,
    name text NOT NULL,
    email text NOT NULL UNIQUE
);

CREATE TABLE shop.purchase (
    number text PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES shop.customer,
    placed_on date NOT NULL,
    status text NOT NULL,
    total numeric(10, 2) NOT NULL
);

-- The customer that a request is for. The API sets it at the beginning of each request; nobody else is nobody's.
CREATE FUNCTION shop.customer_of_request() RETURNS integer
    LANGUAGE sql STABLE AS $$ SELECT nullif(current_setting('shop.customer_id', true), '')::integer $$;
COMMENT ON FUNCTION shop.customer_of_request() IS '@omit';

ALTER TABLE shop.customer ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.purchase ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shop.customer FOR SELECT TO shop_customer USING (id = shop.customer_of_request());
CREATE POLICY own ON shop.purchase FOR SELECT TO shop_customer USING (customer_id = shop.customer_of_request());

GRANT USAGE ON SCHEMA shop TO shop_customer;
GRANT SELECT ON shop.customer, shop.purchase TO shop_customer;

INSERT INTO shop.customer VALUES
    (1, 'Ada Brandt', 'ada@example.com'),
    (2, 'Ben Okafor', 'ben@example.com');

INSERT INTO shop.purchase VALUES
    ('A-1001', 1, '2026-02-11', 'DELIVERED', 129.90),
    ('A-1002', 1, '2026-03-04', 'SHIPPED', 18.50),
    ('B-2001', 2, '2026-03-01', 'PAID', 640.00);
