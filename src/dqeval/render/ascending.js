// Numbers in ascending order. It knows nothing of the page.
const ascending = (() => {
  "use strict";

  // How many of some ascending numbers are at or below x; or only those below it.
  function passed(numbers, x, { below = false } = {}) {
    let low = 0;
    let high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (below ? numbers[middle] < x : numbers[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return { passed };
})();
