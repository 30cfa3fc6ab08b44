// What the pages do beyond links and forms. Every page works without it.
(() => {
  'use strict';
  const LOG_ROWS_MAX = 200;
  const POINTS_MAX = 1200;

  // A stop is asked for twice.
  document.addEventListener('submit', (event) => {
    const button = event.submitter;
    const question = button && button.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });

  // On a narrow screen the tab or section one is on may lie outside.
  for (const here of document.querySelectorAll('.tabs [aria-current], .side [aria-current]')) {
    here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.clientWidth / 2;
  }

  // A page that follows a crawl says so when it hears nothing any more: its server was
  // stopped, or the network is gone. Something comes twice a second.
  const SILENCE_MS = 3000;
  const lost = document.querySelector('.connection');
  if (lost) {
    let heard = Date.now();
    // An order that cannot arrive is not offered.
    const steer = (isOn) => {
      for (const button of document.querySelectorAll('.steering button')) button.disabled = !isOn;
    };
    const hear = () => {
      heard = Date.now();
      lost.hidden = true;
      document.body.classList.remove('stale');
      steer(true);
    };
    for (const event of ['htmx:sseOpen', 'htmx:sseBeforeMessage']) document.body.addEventListener(event, hear);
    setInterval(() => {
      if (!lost.hidden || Date.now() - heard < SILENCE_MS) return;
      const time = lost.querySelector('time');
      time.dateTime = new Date(heard).toISOString();
      time.textContent = `${time.dateTime.slice(0, 19).replace('T', ' ')} UTC`;
      lost.hidden = false;
      document.body.classList.add('stale');
      steer(false);
    }, 500);
  }

  // The newest rows stay, the oldest go; a row that came twice is shown once.
  document.body.addEventListener('htmx:sseBeforeMessage', (event) => {
    if (event.detail.type === 'sample') {
      event.preventDefault();
      addSample(JSON.parse(event.detail.data));
    }
  });
  document.body.addEventListener('htmx:sseMessage', (event) => {
    if (event.detail.type !== 'log') return;
    const log = document.getElementById('log');
    const seen = new Set();
    for (const row of [...log.rows]) {
      const n = row.dataset.n;
      if (n && seen.has(n)) row.remove();
      else if (n) seen.add(n);
    }
    while (log.rows.length > LOG_ROWS_MAX) log.rows[log.rows.length - 1].remove();
    for (const hint of document.querySelectorAll('.while-empty')) hint.remove();
  });

  // Hours of a week are painted by dragging, and reached by arrow keys.
  const week = document.querySelector('.week[data-paint]');
  if (week) {
    let paint = null;
    const box = (event) => event.target.closest('.week input');
    week.addEventListener('pointerdown', (event) => {
      const hour = box(event);
      if (!hour || event.pointerType === 'touch' || event.button !== 0) return;
      paint = !hour.checked;
      hour.checked = paint;
    });
    week.addEventListener('pointerover', (event) => {
      const hour = box(event);
      if (hour && paint !== null) hour.checked = paint;
    });
    document.addEventListener('pointerup', () => setTimeout(() => { paint = null; }));
    // The click that ends a stroke would undo its first hour; one by keyboard ends none.
    week.addEventListener('click', (event) => {
      if (box(event) && paint !== null && event.detail > 0) event.preventDefault();
    });
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    week.addEventListener('keydown', (event) => {
      const step = steps[event.key];
      const hour = box(event);
      if (!step || !hour) return;
      const cell = hour.parentElement;
      const row = week.tBodies[0].rows[cell.parentElement.sectionRowIndex + step[0]];
      const next = row && row.cells[cell.cellIndex + step[1]];
      const to = next && next.querySelector('input');
      if (to) to.focus();
      event.preventDefault();
    });
  }

  // Curves.
  const charts = [];
  let empty = [];
  const box = document.querySelector('.charts');
  // A canvas cannot read a pair of colours: an element can.
  const probe = document.createElement('span');
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const read = getComputedStyle(probe).color;
    probe.remove();
    return read;
  };

  // Times are in UTC, here as on every page, and written as everywhere.
  const DAY_S = 86400;
  const iso = (seconds) => new Date(seconds * 1e3).toISOString();
  const date = (seconds) => iso(seconds).slice(0, 10);
  const moment = (_, seconds) => (seconds == null ? '–' : iso(seconds).slice(0, 19).replace('T', ' '));
  const amount = (_, value) => (value == null ? '–' : value.toLocaleString('en', { maximumFractionDigits: 2 }));

  // A tick has little room: 2.5M.
  const short = (tick) => tick.toLocaleString('en', tick < 1e6 ? {} : { notation: 'compact', maximumFractionDigits: 2 });

  // A clock under each line, and the date where a day begins.
  function times(_, ticks, axis, space, step) {
    return ticks.map((tick, at) => {
      const isNewDay = at === 0 || date(tick) !== date(ticks[at - 1]);
      if (step >= DAY_S) return date(tick);
      const clock = iso(tick).slice(11, step < 60 ? 19 : 16);
      return isNewDay ? `${clock}\n${date(tick)}` : clock;
    });
  }

  function draw(holder, samples) {
    // Without a sample there is no time to draw an axis for.
    if (!samples.length) {
      const note = document.createElement('p');
      note.className = 'muted';
      note.textContent = box.dataset.empty;
      holder.replaceChildren(note);
      empty.push(holder);
      return;
    }
    const keys = holder.dataset.series.split(' ');
    const labels = holder.dataset.label.split('|');
    const data = [samples.map((s) => s.time), ...keys.map((key) => samples.map((s) => s[key]))];
    const text = colour('--chart-text');
    const grid = colour('--chart-grid');
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const options = {
      width: holder.clientWidth,
      height: 180,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), 'UTC'),
      cursor: { y: false },
      legend: { live: true },
      scales: { x: { time: true }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
      // Half a date, where the last line is at the edge.
      padding: [null, 36, null, null],
      axes: [{ ...axis, space: 80, values: times }, { ...axis, size: 72, values: (_, ticks) => ticks.map(short) }],
      series: [{ label: box.dataset.time, value: moment }, ...keys.map((_, at) => ({
        label: labels[at], stroke: colour(at === 0 ? '--accent' : '--second'), width: 2, points: { show: false }, value: amount,
      }))],
    };
    charts.push({ keys, holder, data, plot: new uPlot(options, data, holder) });
  }

  function addSample(sample) {
    if (sample.time === null) return;
    const first = empty;
    empty = [];
    for (const holder of first) {
      holder.replaceChildren();
      draw(holder, [sample]);
    }
    for (const chart of charts) {
      const times = chart.data[0];
      if (times.length && times[times.length - 1] >= sample.time) continue;
      times.push(sample.time);
      chart.keys.forEach((key, at) => chart.data[at + 1].push(sample[key]));
      if (times.length > POINTS_MAX) chart.data.forEach((series) => series.shift());
      chart.plot.setData(chart.data);
    }
  }

  if (box && window.uPlot) {
    fetch(box.dataset.stats, { headers: { accept: 'application/json' } })
      .then((answer) => (answer.ok ? answer.json() : { items: [] }))
      .then(({ items }) => {
        for (const holder of box.querySelectorAll('.chart')) draw(holder, items);
      });
    new ResizeObserver(() => {
      for (const chart of charts) chart.plot.setSize({ width: chart.holder.clientWidth, height: 180 });
    }).observe(box);
  }
})();
