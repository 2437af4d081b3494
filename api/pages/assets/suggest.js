import { make } from "./make.js";

/** Milliseconds without a key after which suggestions are asked for. */
const pauseMs = 150;
const minLength = 2;

/**
 * Makes the search box a combobox: below it are the options that the server renders of what is typed. Enter without one
 * sends the form, as it does without scripts.
 */
export function offerSuggestions(box) {
  const { form } = box;
  const list = make("div", { className: "suggestions", id: "suggestions", hidden: true });
  list.role = "listbox";
  list.ariaLabel = "Suggestions";
  const count = make("span", { className: "unseen", role: "status" });
  form.append(list, count);
  box.autocomplete = "off";
  box.role = "combobox";
  box.ariaAutoComplete = "list";
  box.setAttribute("aria-controls", list.id);
  let active;
  let asked;
  let pause;

  const choose = (option) => {
    if (active) active.ariaSelected = "false";
    active = option;
    if (option) option.ariaSelected = "true";
    option?.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", option?.id ?? "");
  };
  const show = (options, text) => {
    choose();
    list.replaceChildren(...options);
    list.hidden = options.length === 0;
    box.ariaExpanded = `${!list.hidden}`;
    count.textContent = text;
  };
  /** What was asked for is dropped, too. */
  const close = () => {
    clearTimeout(pause);
    asked?.abort();
    show([], "");
  };
  const ask = async () => {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    try {
      const answer = await fetch(`/search/suggestions?${new URLSearchParams(new FormData(form))}`, {
        signal,
      });
      // Of our own server, which escapes what others wrote.
      const { body } = new DOMParser().parseFromString(await answer.text(), "text/html");
      const options = [...body.children];
      if (signal.aborted) return;
      if (!answer.ok) return close();
      show(options, options.length === 1 ? "1 suggestion" : `${options.length} suggestions`);
    } catch {
      if (!signal.aborted) close();
    }
  };
  const onInput = () => {
    choose();
    if (box.value.trim().length < minLength) return close();
    clearTimeout(pause);
    pause = setTimeout(ask, pauseMs);
  };
  const onKey = (event) => {
    const { key, isComposing } = event;
    const options = [...list.children];
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (isComposing || options.length === 0) return;
    if (step !== undefined) {
      // Beyond the last one, and before the first, is the text itself.
      const places = options.length + 1;
      choose(options[((options.indexOf(active) + step + 1 + places) % places) - 1]);
    } else if (key === "Escape") close();
    else if (key === "Enter" && active) active.click();
    else return;
    event.preventDefault();
  };
  box.addEventListener("input", onInput);
  box.addEventListener("keydown", onKey);
  box.addEventListener("blur", close);
  form.addEventListener("submit", close);
  list.addEventListener("click", close);
  // The box keeps the focus while an option is pressed.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  close();
  if (box.matches(":focus")) onInput();
}
