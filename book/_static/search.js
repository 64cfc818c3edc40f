/* Search by section: what holds most of the words asked for, the rare ones above all; titles count most. */
(() => {
  const output = document.querySelector("#search-results");
  const field = output.parentElement.querySelector("input[name=q]");
  const query = new URLSearchParams(location.search).get("q") ?? "";
  const idle = new Set(("a about after al all am an and are as at be but by can could did do does et for from get give has have how i if in "
    + "into is it its let make many may me might much must my need of on one or our should so some than that the their them there "
    + "these they this to use used using want was we were what when where which who why will with would you your").split(" "));
  const greek = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", zeta: "ζ", eta: "η", theta: "θ", kappa: "κ", lambda: "λ", mu: "μ", pi: "π", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", xi: "ξ" };
  const letters = (text) => text.replace(/\b([a-z]+?)_?(\d+)\b/g, (all, name, digits) => (greek[name] ? greek[name] + digits : all));
  const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  /* Of what readers ask in other words than a title has: where the answer stands. */
  const answers = [
    [/central.*local|local.*central|trusted (curator|server|third)/, "notebooks/10-local-aggregation.html#who-sees-what"],
    [/membership|was .* in the (data|survey)|tracing attack/, "book/glossary.html#term-tracing-attack"],
    [/singl\w* out|anonym|gdpr|\blaw\b|legal|personal data|\bdpia\b|\bdpo\b|data protection|impact assessment/, "book/not_protected.html#in-law"],
    [/\bcite|citation|bibtex|copyright|licen[cs]e|may (i|we) use|reuse|in production/, "book/index.html#may-i-use-it"],
    [/vulnerab|threat model|report .*(bug|weakness)|\bsecurity\b/, "book/security.html"],
    [/\bthesis\b|open (question|problem)|unsolved|future work|student project/, "book/open.html"],
    [/author['’]?s?['’]? (own )?(code|files|repository)|original code|their code/, "notebooks/97-what-was-read.html#the-copies"],
    [/\bseeds?\b|\bseeded\b|random numbers|reproducib/, "book/reproduce.html#the-same-numbers"],
    [/monthly|weekly|yearly|every (day|week|month|year)|each (week|month|year)|once a (week|month|year)/, "notebooks/16-what-epsilon-buys.html#releases-add-up"],
    [/^(how (to|do i) )?(publish|release) .*(ranking|survey|poll)/, "notebooks/14-release-your-own.html"],
    [/data ?sets? (used|of|in)|which (data|surveys)|where .*data (come|are) from|^data ?sets?$/, "notebooks/15b-the-arena.html#people-of-surveys"],
    [/differential(ly)? priva/, "book/index.html#thirty-seconds-of-differential-privacy"],
    [/how many (people|voters|answers)/, "notebooks/15-which-method.html#how-many-people"],
    [/\b(my|our|own) (data|survey|file|answers|ballots)/, "notebooks/14-release-your-own.html"],
    [/install|\bpip\b/, "book/api.html"],
    [/timing|\bclock\b/, "book/not_protected.html#the-clock"],
    [/counterexample|wrong theorem|broken promise/, "book/results.html"],
    [/pseudonym|\b(delet|remov|without)\w* (the )?names|de-?identif/, "book/index.html#thirty-seconds-of-differential-privacy"],
    [/department|district|sub-?groups?\b|several (questions|surveys|releases)|split .*epsilon|same people/, "book/not_protected.html#the-second-release"],
    [/disagree|dispute|reviewed|contact|wrong verdict|authors .*(told|asked)/, "book/verdicts.html#if-you-disagree"],
    [/proof assistant|\blean\b|formally/, "book/verdicts.html#the-methods"],
    [/exercise|teach|course|slides|lesson|prerequisite|where (do i|to) (begin|start)/, "book/index.html#five-doors"],
    [/\brating|\bstars?\b|likert|file format|\bcsv\b|format of/, "book/commands.html#what-a-file-looks-like"],
    [/how long|hardware|\bminutes\b|disk space|run ?time|\bgpu\b|how fast|\bspeed\b/, "book/reproduce.html#the-profiles"],
    [/(^|\s)--\w/, "book/commands.html"],
    [/re-?identif/, "notebooks/14c-three-attacks.html"],
    [/who (sees|can see)|raw data/, "notebooks/10-local-aggregation.html#who-sees-what"],
    [/unranked|left (out|some)|partial|incomplete|unfinished|missing answers/, "notebooks/14a-partial-and-tied-orders.html"],
    [/\btables? [12]\b/, "notebooks/13a-tables-statements.html"],
    [/\bapple\b|\bgoogle\b|census|(others?|companies|agencies) (use|choose|chose)|deployed|in practice/, "notebooks/16-what-epsilon-buys.html#which-epsilon-did-others-choose"],
    [/(what|which|choos\w*|pick\w*|set|good|right) (an? |the |value of )?epsilon|epsilon (to|should|is (ok|good|enough))/, "notebooks/16-what-epsilon-buys.html"],
    [/names? (are |were )?(removed|deleted|enough)|(remov|delet|stripp)\w* (the |their |all )?names|pseudonym/, "book/index.html#thirty-seconds-of-differential-privacy"],
    [/(an)?other (hospital|department|school|release|survey|statistic|study)|also (appear|publish|in)|already published|linkage/, "book/not_protected.html#the-second-release"],
    [/(only|just|with) \d+ (people|employees|voters|persons|students|answers|patients|ballots)|(few|small number of) (people|voters|answers|ballots|respondents)|sample size/, "notebooks/15-which-method.html#how-many-people"],
    [/(only|just) rank|rank\w* (only|just)|truncated ballot|top (three|two|3|2|choices) (of|only)|only ranked/, "notebooks/14a-partial-and-tied-orders.html"],
    [/margins? of error|error bars?|confidence|uncertain/, "notebooks/14b-ranges-of-places.html"],
    [/duplicate|(person|voter|name)s? twice/, "notebooks/14-release-your-own.html#be-two"],
    [/\bfrom (ballots|votes|answers|a survey)/, "notebooks/14-release-your-own.html"],
    [/consent|participants|what to (say|tell)|tell (people|voters|them|the public)/, "notebooks/16-what-epsilon-buys.html#what-to-say-to-a-minister"],
    [/arxiv|which (version|copy|edition)|\bversions?\b.*(paper|read)|preprint/, "notebooks/97-what-was-read.html#the-copies"],
    [/floating.?point|last bits?\b|rounding attack|mironov/, "notebooks/12-privacy-audited.html#what-the-last-bits-say"],
    [/\b(our|staff|employee|student|patient|customer|customers|members?)\b.*\b(survey|poll|ballots|votes|feedback)/, "notebooks/14-release-your-own.html"],
    [/improve|better than/, "notebooks/17-better-than-printed.html"],
  ];
  /* Pages of the book come before the library's, roads before what stands behind them; a term is meant as such. */
  const rank = (url) => (url.startsWith("book/reference/") ? -6 : url.startsWith("book/glossary.html#") ? 2 : /notebooks\/\d\d[a-z]/.test(url) ? -0.5 : 0);
  const entries = window.SECTIONS.map(([page, title, url, text]) => ({
    page, title, url, text,
    head: plain(url.startsWith("book/results/") ? `${title || page} ${text.slice(0, 80)}` : `${title || page}`), all: plain(`${page} ${title} ${text}`),
    // what a page of a single result is about stands in its first lines
    over: plain(url.startsWith("book/results/") ? `${page} ${text.slice(0, 80)}` : page), rank: rank(url),
  }));
  // who looks for a co-author means the paper, and who looks for corrections the errata
  const same = {
    chakraborty: "cai", wang: "cai", fotakis: "busa", zampetakis: "busa", su: "qiao", zhang: "qiao",
    ghazi: "alabi", kumar: "alabi", manurangsi: "alabi", correction: "errat", corrections: "errat", corrigendum: "errat",
  };
  const stem = (word) => (/^\p{L}{6,}$/u.test(word) ? word.replace(/(?:ies|es|s|ing|ed|ly|y|e)$/, "") : word);
  const finder = (typed) => {
    const word = stem(typed);
    const end = /\d$/.test(word) ? "(?![\\w]|\\.\\w)" : "";
    const before = /^\p{L}/u.test(word) ? "(?<!\\w)" : "(?<![\\w.])"; // 3.1 is no 1, dprank.audit an audit
    const either = [word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), ...(same[word] ? [same[word]] : [])].join("|");
    return new RegExp(`${before}(?:${either})${end}`, "u");
  };
  const titles = entries.filter((it) => !it.url.startsWith("book/reference/")).map((it) => it.head);
  const known = [...new Set(titles.flatMap((head) => head.match(/\p{L}{4,}/gu) ?? []))];
  const apart = (a, b) => { // letters to change, add or leave out
    let row = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
      row = next;
    }
    return row[b.length];
  };
  // what begins no word of the site is the nearest word of a title: one letter off, or two of a long word
  const meant = (word) => {
    if (word.length < 5 || /[^\p{L}]/u.test(word) || entries.some((it) => finder(word).test(it.all))) return word;
    const near = known.map((it) => [apart(word, it), it]).sort((a, b) => a[0] - b[0])[0];
    return near && near[0] <= (word.length < 8 ? 1 : 2) ? near[1] : word;
  };
  const excerpt = (text, words) => {
    const at = Math.max(0, Math.min(...words.map((word) => plain(text).search(word)).filter((i) => i >= 0), text.length));
    const from = at === text.length ? 0 : Math.max(0, at - 60);
    return (from ? "… " : "") + text.slice(from, from + 200) + (from + 200 < text.length ? " …" : "");
  };
  const search = (asked) => {
    const typed = plain(asked).trim();
    const named = /\w[._]\w*[a-z]/.test(typed); // a name of the library
    const answer = answers.find(([pattern]) => pattern.test(typed))?.[1];
    const all = letters(typed).split(/[\s,:;()-]+|\.(?=\s|$)/).filter(Boolean);
    const telling = all.filter((word) => !idle.has(word));
    const words = (telling.length ? telling : all).map(meant).map(finder);
    // a rare word says more than a frequent one
    const weights = words.map((word) => 0.5 + Math.log(entries.length / (1 + entries.filter((it) => word.test(it.all)).length)));
    const sum = (it, field) => words.reduce((total, word, i) => total + weights[i] * word.test(it[field]), 0);
    // what stands side by side in the question does so in the answer: floating point, and above all Theorem 13
    const pairs = words.slice(1).map((word, i) => [
      new RegExp(`${words[i].source}\\p{L}*\\P{L}{1,2}?${word.source}`, "u"),
      (weights[i] + weights[i + 1]) * (/\d\)/.test(word.source) ? 8 : 1.5),
    ]);
    const beside = (it) => pairs.reduce((total, [pair, weight]) =>
      total + weight * (pair.test(it.head) ? 1 : pair.test(it.all) ? 0.3 : 0), 0);
    const whole = weights.reduce((total, weight) => total + weight, 0);
    const has = new Map(entries.map((it) => [it, sum(it, "all")]));
    const least = 0.6 * Math.max(...has.values());
    const score = (it) => (3 * has.get(it) + 5 * sum(it, "head") + 2 * sum(it, "over") + beside(it)) / whole
      - it.head.length / 60 + (named ? 0 : it.rank) + 100 * (it.url === answer);
    const found = entries
      .filter((it) => (least > 0 && has.get(it) >= least) || it.url === answer)
      .map((it) => ({ ...it, score: score(it) }))
      .sort((a, b) => b.score - a.score);
    const list = document.createElement("ol");
    for (const it of found.slice(0, 60)) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = it.url;
      link.textContent = it.title || it.page;
      item.append(link);
      if (it.title) item.append(" ", Object.assign(document.createElement("span"), { className: "found-on", textContent: it.page }));
      item.append(Object.assign(document.createElement("p"), { textContent: excerpt(it.text, words) }));
      list.append(item);
    }
    const count = document.createElement("p");
    count.textContent = words.length ? `${found.length} found${found.length > 60 ? ", the first 60" : ""}.` : "";
    output.replaceChildren(count, list);
  };
  field.value = query;
  field.addEventListener("input", () => search(field.value));
  search(query);
})();
