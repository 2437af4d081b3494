import { make } from "./make.js";

export const paragraph = (text, className = "") =>
  make("p", { textContent: text, ...(className && { className }) });

/** A dialog that shows one thing after the other. `close` ends it. */
export function openSheet() {
  const title = make("h2", { id: "sheet-title", tabIndex: -1 });
  const shut = make("button", { type: "button", textContent: "Close" });
  const body = make("div", { className: "sheet-body" });
  body.setAttribute("aria-live", "polite");
  const buttons = make("div", { className: "choices" });
  const form = make("form", {}, make("header", {}, title, shut), body, buttons);
  const dialog = make("dialog", { className: "sheet" }, form);
  dialog.setAttribute("aria-labelledby", title.id);
  document.body.append(dialog);
  let answer = () => {};

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer({ choice: event.submitter?.value, fields: Object.fromEntries(new FormData(form)) });
  });
  shut.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => answer(null));

  const fill = (shown) => {
    title.textContent = shown.title;
    body.replaceChildren(...shown.body);
    buttons.replaceChildren(...(shown.choices ?? []).map(choiceButton));
    if (!dialog.open) dialog.showModal();
    title.focus();
  };
  return {
    /** Something goes on without the person. It goes on, too, where the sheet is closed meanwhile. */
    tell(shown) {
      answer = () => {};
      fill(shown);
    },
    /** Waits for one of the `choices`, `[value, text]`: with the fields of the form; null: the sheet was closed. */
    ask(shown) {
      fill(shown);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    close: () => dialog.remove(),
  };
}

const choiceButton = ([value, textContent], index) =>
  make("button", { value, textContent, ...(index === 0 && { className: "primary" }) });

/** A field with its label. */
export function field({ name, label, value, ...rules }) {
  const input = make("input", { name, value, required: true, autocomplete: "off", ...rules });
  return make("label", {}, `${label} `, input);
}
