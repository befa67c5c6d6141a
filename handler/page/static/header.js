// The header: which endpoint, as whom, how to connect, and colours.
(() => {
  "use strict";
  const { el, state, on, replace } = stile;
  const header = () => document.getElementById("header");

  for (const event of ["mode", "endpoint", "endpoints", "personas", "persona", "connection"]) on(event, draw);
  let theme = null;

  function draw() {
    theme ??= stile.theme();
    const focused = document.activeElement?.closest?.("#header [data-part]")?.dataset.part;
    const { connection } = state;
    replace(header(),
      el("div", { class: "bar" },
        el("a", { class: "brand", href: `${state.base}/`, on: { click: home } }, "Stile"),
        endpointPicker(),
        state.dev ? el("span", { class: `fact connection ${connection}`, "data-part": "connection", role: "status" }, { lost: "Connection lost, trying again…", open: "Live" }[connection] ?? "") : null,
        el("span", { class: "grow" }),
        state.endpoint ? [stile.personas.picker(), el("button", { type: "button", class: "small", "data-part": "connect", on: { click: stile.connect.dialog } }, "Connect")] : null,
        theme));
    if (focused && document.activeElement === document.body) focusOn(focused);
  }

  /** A choice draws the header anew, and a keyboard keeps its place; a button that is gone leads to the choice beside it. */
  function focusOn(part) {
    const node = header().querySelector(`[data-part="${CSS.escape(part)}"]`);
    (node?.matches("a, button, input, select") ? node : node?.querySelector("select"))?.focus();
  }

  function home(event) {
    event.preventDefault();
    stile.endpoint.open(null, { push: true });
  }

  function endpointPicker() {
    if (!state.dev) return state.endpoint ? el("span", { class: "mono endpoint-name", "data-part": "endpoint" }, state.endpoint) : null;
    if (!state.endpoints.length) return null;
    const select = el("select", { "aria-label": "Endpoint", "data-part": "endpoint", class: "mono", on: { change: () => stile.endpoint.open(select.value || null, { push: true }) } },
      state.endpoints.some((each) => each.name === state.endpoint) ? null : el("option", { value: "" }, "Endpoints"),
      state.endpoints.filter(({ name }) => stile.endpoint.isName(name)).map((each) => el("option", { value: each.name }, stile.visible(each.name))));
    select.value = state.endpoint ?? "";
    return select;
  }
})();
