// What a server asks of its user in the middle of a call (elicitation): the question whole, and the user's own answer.
(() => {
  "use strict";
  const { el, json } = stile;

  /** Answer the requests of an `input_required` result, by key. Escape is "cancel", which the server is told. */
  async function ask(requests, { signal } = {}) {
    const responses = {};
    for (const [key, request] of Object.entries(requests)) {
      if (signal?.aborted) throw signal.reason;
      responses[key] = request?.method === "elicitation/create" ? await one(request.params ?? {}, signal) : { action: "cancel" };
    }
    return responses;
  }

  async function one({ message, mode, requestedSchema, url }, signal) {
    const asks = mode !== "url" && Object.keys(requestedSchema?.properties ?? {}).length > 0;
    const form = asks ? stile.forms.make(requestedSchema) : null;
    const agrees = isAgreement(requestedSchema);
    let content;
    const check = () => {
      if (agrees) return (content = { [agrees]: true }), true;
      if (!form) return (content = mode === "url" ? undefined : {}), true;
      const { value, errors } = form.read();
      content = value;
      return !errors;
    };
    const action = await stile.dialog({
      title: "The server asks you", part: "confirm", wide: true, signal,
      body: [
        el("div", { class: "code pre-wrap", tabindex: "0", "data-part": "question" }, String(message ?? "")),
        mode === "url" ? el("p", null, "It asks you to open ", stile.isLink(url) && /^https?:/i.test(url) ? el("a", { href: url, target: "_blank", rel: "noreferrer noopener" }, url) : el("code", null, String(url)), ".") : null,
        form && !agrees ? form.node : null,
      ],
      buttons: [{ label: "Cancel", value: "cancel" }, { label: "Decline", value: "decline", primary: Boolean(agrees) }, { label: agrees ? "Do it" : "Accept", value: "accept", primary: !agrees, destroys: true, check }],
    });
    if (action !== "accept") return { action: action === "decline" ? "decline" : "cancel" };
    return content === undefined ? { action } : { action, content };
  }

  /** A form of one boolean is the question itself: its buttons answer it. */
  function isAgreement(schema) {
    const [[name, only] = [], ...others] = Object.entries(json.isObject(schema?.properties) ? schema.properties : {});
    return !others.length && only?.type === "boolean" ? name : null;
  }

  stile.questions = Object.freeze({ ask });
})();
