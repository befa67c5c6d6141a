// The view of a GraphQL tool, read through the tool itself as a model would: by one introspection query if the answer
// fits, else type by type as the document and the documentation ask for them; and searches of it. An answer that the
// tool's limits for models cut is asked for at the tool's GraphQL route, which shows the same view.
(() => {
  "use strict";
  const { state, mcp } = stile;

  const AT_ONCE = 4; // types in one request
  const MOST_TYPES = 400; // that are read one by one
  const MOST_CHARS = 8_000_000; // of an answer at the route
  const FOUND = 15;

  const REF = "fragment Ref on __Type{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name ofType{kind name}}}}}}";
  const VALUE = (words) => `name ${words} defaultValue type{...Ref}`;
  const TYPE = (words, aged) =>
    `fragment Whole on __Type{kind name ${words} interfaces{...Ref} possibleTypes{...Ref}` +
    ` fields(includeDeprecated:true){name ${words} ${aged} type{...Ref} args{${VALUE(words)}}}` +
    ` inputFields{${VALUE(words)}} enumValues(includeDeprecated:true){name ${words} ${aged}}} ${REF}`;
  const FULL = TYPE("description", "isDeprecated deprecationReason");
  const LEAN = TYPE("", "isDeprecated deprecationReason");
  // For a tool that takes only short documents.
  const TINY =
    "fragment Whole on __Type{kind name fields{name args{name type{...R}} type{...R}} inputFields{name type{...R}}" +
    " enumValues{name} possibleTypes{kind name}} fragment R on __Type{kind name ofType{kind name ofType{kind name ofType{kind name}}}}";
  const FORMS = [FULL, LEAN, TINY];
  const TINY_HEAD = "queryType{name} mutationType{name}";
  const HEAD = `queryType{name} mutationType{name} directives{name description locations args{${VALUE("description")}}}`;

  class Refused extends Error {}

  /** One view: of a tool, for the persona that is chosen when it is made. */
  class ToolView {
    constructor(tool, { signal }) {
      this.tool = tool;
      this.types = new Map(); // name -> the type as introspection has it
      this.failed = new Map(); // name -> why the type could not be read
      this.head = null;
      this.whole = false;
      this.problem = "";
      this.options = { persona: state.persona, endpoint: state.endpoint, signal };
    }

    /** Return the data of a request through the tool.
     *
     * Throws `Refused` with the sentences that a model would get. */
    async ask(query, variables = {}) {
      const answer = await mcp.call("tools/call", { name: this.tool.name, arguments: { query, variables } }, this.options);
      const told = answer.result?.content?.find?.((each) => each?.type === "text")?.text;
      if (!answer.result || answer.result.isError || typeof told !== "string") {
        throw new Refused(told ?? answer.error?.message ?? `HTTP ${answer.status}`);
      }
      let response;
      try {
        response = JSON.parse(told);
      } catch {
        throw new Refused("the answer is not whole"); // cut to the tool's limit
      }
      if (!response?.data) throw new Refused(response?.errors?.[0]?.message ?? "there is no answer");
      if (response.extensions?.stile?.truncated) throw new Refused("the answer was cut to the tool's limit");
      return response.data;
    }

    /** Return the data of a request at the tool's GraphQL route. Throws `Refused`. */
    async askRoute(query) {
      const { persona, endpoint, signal } = this.options;
      const path = [...endpoint.split("/"), "tools", this.tool.name, "graphql"].map(encodeURIComponent).join("/");
      const response = await fetch(`${state.base}/${path}`, {
        method: "POST", body: JSON.stringify({ query }), signal, cache: "no-store", credentials: "omit", redirect: "error",
        headers: { "content-type": "application/json", accept: "application/json", ...stile.personas.headers(persona) },
      });
      const text = await response.text();
      if (text.length > MOST_CHARS || !/json/.test(response.headers.get("content-type") ?? "")) throw new Refused(`HTTP ${response.status}`);
      const { data, errors } = JSON.parse(text);
      if (!data) throw new Refused(errors?.[0]?.message ?? "there is no answer");
      return data;
    }

    async askAnywhere(query) {
      try {
        return await this.ask(query);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return this.askRoute(query).catch(() => Promise.reject(error)); // the words for a model say more
      }
    }

    /** Read the schema, or its root types if it is large. Throws if the tool answers no introspection. */
    async load() {
      try {
        const { __schema: all } = await this.ask(`{__schema{${HEAD} types{...Whole}}} ${FULL}`);
        this.head = all;
        this.keep(all.types);
        this.whole = true;
        return;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
      const { __schema: head } = await this.ask(`{__schema{${HEAD}}} ${REF}`).catch((error) => {
        if (!(error instanceof Refused)) throw error;
        return this.askAnywhere(`{__schema{${TINY_HEAD}}}`);
      });
      this.head = { directives: [], ...head };
      await this.read([head.queryType?.name, head.mutationType?.name].filter(Boolean));
    }

    keep(types) {
      for (const each of types) {
        if (each && typeof each.name === "string") this.types.set(each.name, { ...stub(each.kind, each.name), ...each });
      }
    }

    /** Read types that are not known yet. Returns true if there are new ones. */
    async read(names) {
      const wanted = [...new Set(names)].filter((name) => /^\w+$/.test(name) && !this.types.has(name) && !this.failed.has(name));
      if (this.whole || !wanted.length || this.types.size > MOST_TYPES) return false;
      for (let at = 0; at < wanted.length; at += AT_ONCE) await this.readSome(wanted.slice(at, at + AT_ONCE));
      return true;
    }

    async readSome(names, form = 0) {
      const document = `{${names.map((name, at) => `t${at}:__type(name:${JSON.stringify(name)}){...Whole}`).join(" ")}} ${FORMS[form]}`;
      const isLast = form === FORMS.length - 1;
      try {
        this.keep(Object.values(await (isLast ? this.askAnywhere(document) : this.ask(document))));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (names.length > 1) for (const name of names) await this.readSome([name], form);
        else if (!isLast) await this.readSome(names, form + 1);
        else this.failed.set(names[0], error.message);
      }
    }

    /** Return `{schema, unread}`: introspection with a stub in place of each type that is not read. */
    introspection() {
      const types = new Map(this.types);
      const unread = [];
      const note = (ref) => {
        for (let each = ref; each; each = each.ofType) {
          if (!each.name || types.has(each.name)) continue;
          types.set(each.name, stub(each.kind, each.name));
          if (each.kind !== "SCALAR") unread.push(each.name);
        }
      };
      const all = [...this.types.values(), { fields: [], directives: this.head.directives }];
      for (const type of all) {
        for (const each of [...(type.interfaces ?? []), ...(type.possibleTypes ?? [])]) note(each);
        for (const field of [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.directives ?? [])]) {
          note(field.type);
          for (const arg of field.args ?? []) note(arg.type);
        }
      }
      return { schema: { ...this.head, types: [...types.values()] }, unread };
    }

    /** Return `[{coordinate, paths}]` for a question in words. Where the tool answers no search, names are compared. */
    async search(words) {
      try {
        const { __search: found } = await this.ask(
          "query Search($words:String!,$first:Int!){__search(query:$words,first:$first){coordinate pathsToRoot}}",
          { words: words.slice(0, 1000), first: FOUND },
        );
        return found.map((each) => ({ coordinate: each.coordinate, paths: each.pathsToRoot }));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return this.named(words);
      }
    }

    named(words) {
      const wanted = words.toLowerCase();
      const found = [];
      for (const type of this.types.values()) {
        if (type.name.startsWith("__")) continue;
        if (type.name.toLowerCase().includes(wanted)) found.push({ coordinate: type.name, paths: [] });
        for (const each of [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])]) {
          if (each.name.toLowerCase().includes(wanted)) found.push({ coordinate: `${type.name}.${each.name}`, paths: [] });
        }
      }
      return found.slice(0, FOUND);
    }
  }

  const stub = (kind, name) => ({
    kind, name, description: null,
    fields: ["OBJECT", "INTERFACE"].includes(kind) ? [] : null,
    interfaces: ["OBJECT", "INTERFACE"].includes(kind) ? [] : null,
    possibleTypes: ["UNION", "INTERFACE"].includes(kind) ? [] : null,
    inputFields: kind === "INPUT_OBJECT" ? [] : null,
    enumValues: kind === "ENUM" ? [] : null,
  });

  stile.ToolView = ToolView;
})();
