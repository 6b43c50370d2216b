// The links to other parts of the site stand in the menu bar, which leaves and returns with scrolling.
document.querySelector('.left-buttons').append(document.querySelector('nav.site'));
