// The API reference: which language is open, the narrow page's contents, and calls that are sent from the page.

const stored = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

function rememberLanguage() {
  const samples = [...document.querySelectorAll("details.sample")];
  const wanted = stored("reference-language");
  for (const one of samples) {
    if (wanted !== null && samples.some(({ dataset }) => dataset.language === wanted))
      one.open = one.dataset.language === wanted;
    one.addEventListener("toggle", () => {
      if (!one.open) return;
      try {
        localStorage.setItem("reference-language", one.dataset.language);
      } catch {
        // Without storage the first language is open.
      }
    });
  }
}

/** Beside the text the contents are open; above it, on a narrow screen, they are folded. */
function foldContents() {
  const contents = document.querySelector("details.contents");
  const wide = matchMedia("(min-width: 60rem)");
  const set = () => {
    if (contents !== null) contents.open = wide.matches;
  };
  wide.addEventListener("change", set);
  set();
  const current = contents?.querySelector("[aria-current]");
  if (wide.matches && current) contents.scrollTop = current.offsetTop - contents.clientHeight / 2;
}

/** The address and options of `fetch` for what a form says; what is empty is left out. */
function requestOf(form) {
  let address = form.dataset.address;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of form.elements) {
    if (field.value === "" || field.name === "") continue;
    if (field.dataset.in === "path")
      address = address.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.dataset.in === "query") query.set(field.name, field.value);
    else if (field.dataset.header !== undefined) headers[field.dataset.header] = field.value;
  }
  const text = query.toString();
  const body = form.elements.body?.value;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return [
    text === "" ? address : `${address}?${text}`,
    { method: form.dataset.method, headers, body },
  ];
}

async function send(form) {
  const outcome = form.querySelector(".outcome");
  const received = form.querySelector(".received");
  const button = form.querySelector("button");
  button.disabled = true;
  const [address, options] = requestOf(form);
  const startedAt = performance.now();
  try {
    const answer = await fetch(address, options);
    const type = answer.headers.get("content-type") ?? "";
    const text = /json|text/.test(type) ? await answer.text() : `(${type})`;
    const left = answer.headers.get("x-ratelimit-remaining");
    outcome.textContent = `${answer.status} in ${Math.round(performance.now() - startedAt)} ms${left === null ? "" : `, ${left} requests left in this minute`}`;
    received.textContent = /json/.test(type) ? JSON.stringify(JSON.parse(text), null, 2) : text;
    received.hidden = text === "";
  } catch (error) {
    outcome.textContent = `No answer: ${error instanceof Error ? error.message : error}`;
    received.hidden = true;
  } finally {
    button.disabled = false;
  }
}

for (const form of document.querySelectorAll("form.run")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
}
rememberLanguage();
foldContents();
