// JSON that keeps the text of numbers, and says where a mistake is. JSON.parse would make 12345678901234567890 another
// number, and 1.0 another text.
(() => {
  "use strict";

  const MAX_DEPTH = 500;

  /** A number whose text a JavaScript number would change. */
  class Exact {
    constructor(text) {
      this.text = text;
      Object.freeze(this);
    }
    toString() {
      return this.text;
    }
  }

  class JsonError extends Error {
    constructor(message, text, at) {
      const before = text.slice(0, at);
      const line = before.split("\n").length;
      const column = at - before.lastIndexOf("\n");
      super(`line ${line}, column ${column}: ${message}`);
      Object.assign(this, { line, column, at });
    }
  }

  const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  const SPACE = /[ \t\n\r]*/y;
  const WORDS = [["true", true], ["false", false], ["null", null]];

  /** Return the value of a JSON text. Throws a JsonError with `line` and `column`. */
  function parse(text) {
    let at = 0;
    const fail = (message, where = at) => {
      throw new JsonError(message, text, where);
    };
    const take = (pattern) => {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found) at = pattern.lastIndex;
      return found?.[0];
    };
    const next = () => (take(SPACE), text[at]);
    const seen = () => (at < text.length ? JSON.stringify(text[at]) : "the end");

    function value(depth) {
      if (depth > MAX_DEPTH) fail(`nested more than ${MAX_DEPTH} deep`);
      const first = next();
      if (first === "{") return object(depth);
      if (first === "[") return list(depth);
      if (first === '"') return string();
      for (const [word, meaning] of WORDS) {
        if (text.startsWith(word, at)) return (at += word.length), meaning;
      }
      const digits = take(NUMBER);
      if (digits === undefined) fail(`expected a value, found ${seen()}`);
      return number(digits);
    }

    function object(depth) {
      const result = Object.create(null);
      at += 1;
      if (next() === "}") return (at += 1), result;
      for (;;) {
        if (next() !== '"') fail(`expected a name in double quotes, found ${seen()}`);
        const where = at;
        const name = string();
        if (Object.hasOwn(result, name)) fail(`the name ${JSON.stringify(name)} is there twice`, where);
        if (next() !== ":") fail(`expected ":", found ${seen()}`);
        at += 1;
        result[name] = value(depth + 1);
        const end = next();
        if (end === "}") return (at += 1), result;
        if (end !== ",") fail(`expected "," or "}", found ${seen()}`);
        at += 1;
        if (next() === "}") fail('a "," before "}" is not JSON', at);
      }
    }

    function list(depth) {
      const result = [];
      at += 1;
      if (next() === "]") return (at += 1), result;
      for (;;) {
        result.push(value(depth + 1));
        const end = next();
        if (end === "]") return (at += 1), result;
        if (end !== ",") fail(`expected "," or "]", found ${seen()}`);
        at += 1;
        if (next() === "]") fail('a "," before "]" is not JSON', at);
      }
    }

    /** Find the end by quotes, since a pattern for megabytes of text would overflow the stack. */
    function string() {
      let end = at;
      do {
        end = text.indexOf('"', end + 1);
        if (end < 0) fail("this string has no end");
      } while (escapes(end) % 2);
      try {
        const found = JSON.parse(text.slice(at, end + 1));
        at = end + 1;
        return found;
      } catch {
        return fail("this string has a character that JSON writes as an escape, or an escape that JSON does not have");
      }
    }

    function escapes(end) {
      let count = 0;
      while (text[end - 1 - count] === "\\") count += 1;
      return count;
    }

    const whole = value(0);
    if (next() !== undefined) fail(`expected the end, found ${seen()}`);
    return whole;
  }

  // Digits that a JavaScript number may not keep: 16 and more, an exponent, a zero at the end of a fraction.
  const INEXACT = /\d{16}|\d\.\d{9}|\d[eE][-+\d]|\.\d*0(?!\d)|-0/;

  /** Return the value of an answer, which is JSON: by the browser, ten times as fast, if no digit is in danger. */
  const parseAnswer = (text) => (INEXACT.test(text) ? parse(text) : JSON.parse(text));

  /** Return a JavaScript number if its text is the same, and an Exact otherwise. */
  const number = (digits) => (String(Number(digits)) === digits ? Number(digits) : new Exact(digits));

  const isNumber = (value) => typeof value === "number" || value instanceof Exact;
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);

  function stringify(value, indent = "", inner = "") {
    if (value instanceof Exact) return value.text;
    if (!Array.isArray(value) && !isObject(value)) return JSON.stringify(value) ?? "null";
    const deeper = inner + indent;
    const parts = Array.isArray(value)
      ? value.map((each) => stringify(each, indent, deeper))
      : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}:${indent && " "}${stringify(each, indent, deeper)}`);
    const [open, close] = Array.isArray(value) ? "[]" : "{}";
    if (!parts.length) return open + close;
    return indent ? `${open}\n${deeper}${parts.join(`,\n${deeper}`)}\n${inner}${close}` : open + parts.join(",") + close;
  }

  const same = (one, other) => canonical(one) === canonical(other);

  /** Names in order, and numbers of one value alike: 1 is 1.0, as JSON Schema compares. */
  function canonical(value) {
    if (isNumber(value)) return decimal(String(value));
    if (Array.isArray(value)) return `[${value.map(canonical)}]`;
    if (!isObject(value)) return JSON.stringify(value) ?? "null";
    return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)}}`;
  }

  /** Return the digits without zeros that say nothing, and the exponent: equal for equal numbers of any length. */
  function decimal(digits) {
    const [, sign, whole, part = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(digits) ?? [];
    if (whole === undefined) return digits;
    const all = (whole + part).replace(/^0+/, "");
    const short = all.replace(/0+$/, "");
    return short ? `${sign}${short}e${Number(power) - part.length + all.length - short.length}` : "0";
  }

  stile.json = Object.freeze({ parse, parseAnswer, stringify, same, number, decimal, Exact, JsonError, isNumber, isObject });
})();
