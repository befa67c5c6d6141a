// Parts that several panels have: tabs, dialogs, copies, marks, places in files, announcements.
(() => {
  "use strict";
  const { el, state, replace } = stile;
  let made = 0;
  const id = (prefix) => `${prefix}-${(made += 1)}`;

  /** Move focus with the arrow keys among the elements that `items()` returns, of which one is in the tab order. */
  function roving(container, items, { keys = "vertical", onmove } = {}) {
    const [back, ahead] = keys === "vertical" ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    container.addEventListener("keydown", (event) => {
      const all = items();
      const at = all.indexOf(document.activeElement);
      const to = { [back]: at - 1, [ahead]: at + 1, Home: 0, End: all.length - 1 }[event.key];
      if (at < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const next = all[Math.max(0, Math.min(all.length - 1, to))];
      for (const each of all) each.tabIndex = each === next ? 0 : -1;
      next.focus();
      onmove?.(next);
    });
  }

  /** Return `{node, select(id), add}`: tabs as WAI-ARIA has them. `tabs` are `{id, title, render(container)}`. */
  function tabs({ label, tabs: given, selected, onselect, part }) {
    const list = el("div", { role: "tablist", "aria-label": label, class: "tabs" });
    const body = el("div", { class: "tab-body", role: "tabpanel", tabindex: "0", id: id("panel") });
    const node = el("div", { class: "tabbed", "data-part": part }, list, body);
    const buttons = new Map();
    let current = null;
    for (const tab of given) {
      const button = el(
        "button",
        {
          type: "button", role: "tab", id: id("tab"), "aria-controls": body.id, "aria-selected": "false", tabindex: "-1",
          "data-tab": tab.id, on: { click: () => select(tab.id) },
        },
        tab.title, tab.badge,
      );
      buttons.set(tab.id, button);
      list.append(button);
    }
    function select(wanted, { quiet = false } = {}) {
      const tab = given.find((each) => each.id === wanted) ?? given[0];
      if (!tab) return;
      current = tab.id;
      for (const [each, button] of buttons) {
        button.setAttribute("aria-selected", String(each === tab.id));
        button.tabIndex = each === tab.id ? 0 : -1;
      }
      body.setAttribute("aria-labelledby", buttons.get(tab.id).id);
      body.dataset.tab = tab.id;
      body.replaceChildren();
      tab.render(body);
      if (!quiet) onselect?.(tab.id);
    }
    roving(list, () => [...buttons.values()], { keys: "horizontal", onmove: (button) => button.click() });
    select(selected ?? given[0]?.id, { quiet: true });
    return { node, body, select, current: () => current, button: (each) => buttons.get(each) };
  }

  /** Show a modal dialog, and return the value of the button that closes it; `""` if Escape or `signal` does.
   *
   * A button with `check` closes only if it returns true. Enter in a field of one line is the primary button. */
  function dialog({ title, body, buttons = [{ label: "Close", value: "", primary: true }], part = "dialog", wide = false, signal }) {
    const heading = id("heading");
    const made = buttons.map((each) => el("button", { type: "button", class: each.primary ? "primary" : each.destroys ? "destroys" : null, "data-value": each.value, on: { click: () => close(each) } }, each.label));
    const node = el("dialog", { "aria-labelledby": heading, "data-part": part, class: wide ? "wide" : null },
      el("h2", { id: heading }, title), el("div", { class: "dialog-body" }, body), el("div", { class: "buttons" }, made));
    const close = ({ value, check }) => (!check || check()) && node.close(value);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.target.matches("input:not([type=checkbox], [type=radio])")) return;
      event.preventDefault();
      made[buttons.findIndex((each) => each.primary)]?.click();
    });
    document.body.append(node);
    const before = document.activeElement;
    return new Promise((resolve) => {
      node.addEventListener("close", () => {
        node.remove();
        if (before?.isConnected) before.focus();
        resolve(node.returnValue);
      });
      signal?.addEventListener("abort", () => node.close(""), { once: true });
      node.showModal();
    });
  }

  /** A text of which some lines show: descriptions of 10 kB leave room for what they describe. */
  function clamped(words, attributes, { most = 400 } = {}) {
    const node = el("p", attributes, prose(words));
    if (words.length < most && words.split("\n").length < 7) return [node];
    node.classList.add("clamped");
    const more = el("button", { type: "button", class: "small more", "aria-expanded": "false", on: { click: toggle } }, "More");
    function toggle() {
      const isOpen = node.classList.toggle("clamped") === false;
      more.setAttribute("aria-expanded", String(isOpen));
      replace(more, isOpen ? "Less" : "More");
    }
    return [node, more];
  }

  /** Return the parts of a text, with what stands between backticks as code. */
  const prose = (words) =>
    words.split(/(```[\s\S]*?```|`[^`\n]+`)/).map((part, at) => (at % 2 ? el("code", null, part.replace(/^```\w*\n?|^`|`+$/g, "")) : part));

  /** Tell a screen reader. The same words twice are two announcements. */
  function say(words) {
    const region = document.getElementById("announcer");
    if (region) replace(region, el("span", null, words));
  }

  function copyButton(content, label = "Copy", attributes = {}) {
    const button = el("button", { type: "button", class: "small", ...attributes, on: { click: copy } }, label);
    async function copy() {
      const whole = typeof content === "function" ? content() : content;
      let done = true;
      try {
        await navigator.clipboard.writeText(whole);
      } catch {
        done = copiedBySelection(whole); // the clipboard is for https and loopback only
      }
      replace(button, done ? "Copied" : "Not copied");
      say(done ? `${label}: copied` : "The browser did not allow the copy");
      setTimeout(() => replace(button, label), 1500);
    }
    return button;
  }

  function copiedBySelection(whole) {
    const area = el("textarea", { class: "visually-hidden", "aria-hidden": "true", value: whole });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }

  /** Return a file with its line: in dev a link that the editor opens, elsewhere text. */
  function place(file, line, column) {
    if (!file) return null;
    const shown = `${state.dev ? shortened(file) : file}${line ? `:${line}` : ""}`;
    const isAbsolute = (path) => /^\/|^[A-Za-z]:[\\/]/.test(path);
    const whole = isAbsolute(file) || !state.root ? file : `${state.root}/${file}`;
    if (!state.dev || !isAbsolute(whole)) return el("span", { class: "place", title: file }, shown);
    const path = encodeURI(whole.replaceAll("\\", "/")).replaceAll("#", "%23").replaceAll("?", "%3F");
    const url = `vscode://file${path.startsWith("/") ? "" : "/"}${path}${line ? `:${line}:${column ?? 1}` : ""}`;
    return el("a", { class: "place", href: url, title: `Open ${file} in VS Code` }, shown);
  }

  const shortened = (file) => file.split(/[\\/]/).slice(-2).join("/");

  const mark = (words, kind = "", title = null) => el("span", { class: `mark ${kind}`, title }, words);

  const bytes = (count) =>
    count < 1000 ? `${count} B` : count < 1e6 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;

  /** Tokens as the server counts them: four bytes each. */
  const tokens = (content) => Math.floor(new TextEncoder().encode(content).length / 4);

  const number = (count) => Number(count).toLocaleString("en");

  Object.assign(stile, { roving, tabs, dialog, clamped, prose, say, copyButton, place, mark, id });
  stile.units = Object.freeze({ bytes, tokens, number });
})();
