// copying gives lines a button that copies them.
function copying(block) {
  const pre = block.querySelector("pre");
  const button = make("button", "Copy", { type: "button", class: "copy", "aria-label": `Copy: ${pre.getAttribute("aria-label")}` });
  const done = make("span", "", { class: "unseen", role: "status" });
  button.addEventListener("click", async () => {
    const text = pre.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(pre);
      document.execCommand("copy"); // where the clipboard is not for pages like this
    }
    button.textContent = "Copied";
    done.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
      done.textContent = "";
    }, 2000);
  });
  block.append(button, done);
}
for (const block of document.querySelectorAll(".block")) copying(block);
