/* The search of search.html: MiniSearch over the documents of each domain's search.js. */
(function () {
  "use strict";
  var documents = (window.lakeIndex || []).map(function (row, id) {
    return {id: id, page: row[0], name: row[1], title: row[2], description: row[3], words: row[4]};
  });
  var index = new MiniSearch({
    fields: ["name", "title", "description", "words"],
    storeFields: ["page", "name", "title", "description"],
    searchOptions: {
      boost: {name: 3, words: 2},
      prefix: true,
      boostDocument: function (id, term, stored) { return stored.title.startsWith("table ") ? 1.5 : 1; },
    },
  });
  index.addAll(documents);
  // Mistyped words and single ones count only where all words as they are find nothing.
  function find(text) {
    var steps = [{combineWith: "AND"}, {combineWith: "AND", fuzzy: 0.2}, {fuzzy: 0.2}];
    for (var i = 0; i < steps.length; i++) {
      var found = index.search(text, steps[i]);
      if (found.length) return found;
    }
    return [];
  }
  function unknown(text) {
    return text.split(/\s+/).filter(function (word) { return word && !index.search(word, {fuzzy: 0.2}).length; });
  }
  window.lakeFind = find;
  window.lakeUnknown = unknown;
  if (typeof document === "undefined") return;
  var words = document.getElementById("words");
  var list = document.getElementById("found");
  function show() {
    var text = words.value.trim();
    var found = text ? find(text) : [];
    list.replaceChildren.apply(list, found.slice(0, 50).map(function (each) {
      var item = document.createElement("li");
      var link = document.createElement("a");
      link.href = words.dataset.root + each.page;
      link.textContent = each.name;
      var title = document.createElement("small");
      title.textContent = " " + each.title;
      var description = document.createElement("div");
      description.textContent = each.description;
      item.append(link, title, description);
      return item;
    }));
    var missed = unknown(text);
    document.getElementById("count").textContent = !text ? "" :
      found.length + (found.length === 1 ? " result" : " results") +
      (missed.length ? "; nothing has the word " + missed.join(", ") : "") +
      (found.length ? "" : ". The index lists all tables and columns, the glossary all terms.");
  }
  words.value = new URLSearchParams(location.search).get("q") || "";
  words.addEventListener("input", show);
  document.getElementById("search").addEventListener("submit", function (event) {
    event.preventDefault();
    show();
  });
  show();
})();
