/** Has a passkey answer what the page asks (WebAuthn), and sends it by the form that the button is in. */
export function offerPasskeys() {
  for (const place of document.querySelectorAll("[data-passkey]")) {
    place.hidden = false;
    place.querySelector("button").addEventListener("click", () => answer(place));
  }
}

async function answer(place) {
  const button = place.querySelector("button");
  const told = place.querySelector("[role=status]");
  button.disabled = true;
  try {
    told.textContent = "Answer your browser.";
    const credential = await ask(place.dataset.passkey, JSON.parse(place.dataset.options));
    place.querySelector("[data-answer]").value = JSON.stringify(credential);
    told.textContent = "Given.";
    place.closest("form").requestSubmit();
  } catch (error) {
    told.textContent = reasons[error.name] ?? "This browser cannot use passkeys.";
  }
  button.disabled = false;
}

const ask = (kind, options) =>
  kind === "create"
    ? navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
      })
    : navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
      });

const reasons = {
  NotAllowedError: "No passkey was given. Try again.",
  InvalidStateError: "This device has a passkey of this account already.",
  SecurityError: "Passkeys do not work at this address.",
};
