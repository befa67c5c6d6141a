(() => { "use strict"; stile.results = { advice: (d) => `${d.status}` }; })();
