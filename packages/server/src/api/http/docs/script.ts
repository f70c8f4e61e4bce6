/** The script of the docs page: search, the mark at the call that is read, and copying. The page is complete without it. */
export const docsScript = `"use strict";
const nav = document.getElementById("nav");
const box = document.querySelector(".search");
const input = box.querySelector("input");
const menu = document.querySelector(".menu");
const items = [...nav.querySelectorAll("li")].map((item) => ({
  item, words: item.dataset.words + " " + item.textContent.toLowerCase(), link: item.querySelector("a") }));
const groups = [...nav.querySelectorAll("details")];
document.documentElement.classList.add("scripted");
for (const one of [box, menu, ...document.querySelectorAll(".copy")]) one.hidden = false;

for (const { firstChild: text } of document.querySelectorAll(".origin")) text.data = location.origin;

function search() {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const { item, words: own } of items) item.hidden = !words.every((word) => own.includes(word));
  for (const group of groups) {
    const found = group.querySelector("li:not([hidden])") !== null;
    group.hidden = !found;
    group.open = words.length > 0 ? found : group.contains(nav.querySelector(".here"));
  }
  nav.querySelector(".none").hidden = items.some(({ item }) => !item.hidden);
  if (words.length > 0) open(true);
}

function open(isOpen) {
  nav.classList.toggle("open", isOpen);
  menu.setAttribute("aria-expanded", String(isOpen));
}

input.addEventListener("input", search);
input.addEventListener("keydown", (event) => {
  const first = items.find(({ item }) => !item.hidden);
  if (event.key === "Escape") { input.value = ""; search(); open(false); input.blur(); }
  if (event.key === "Enter" && first && input.value) { location.hash = first.link.hash; open(false); input.blur(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  input.focus();
});
menu.addEventListener("click", () => open(!nav.classList.contains("open")));
nav.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });

document.addEventListener("animationend", ({ target }) => {
  target.classList.remove("copied");
  target.textContent = "Copy";
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest(".copy");
  if (button === null) return;
  await navigator.clipboard.writeText(button.closest(".panel").querySelector("code").textContent);
  button.textContent = "Copied";
  button.classList.add("copied");
});

const seen = new IntersectionObserver((entries) => {
  const entry = entries.find((one) => one.isIntersecting);
  if (entry === undefined) return;
  for (const { link } of items) link.classList.toggle("here", link.hash === "#" + entry.target.id);
  const here = nav.querySelector(".here");
  if (here === null || input.value !== "") return;
  for (const group of groups) group.open = group.contains(here);
  here.scrollIntoView({ block: "nearest" });
}, { rootMargin: "-80px 0px -70% 0px" });
for (const call of document.querySelectorAll(".call")) seen.observe(call);
`;
