//! Laws of the layout, on random graphs.

use proptest::prelude::*;

use super::*;

fn graphs() -> impl Strategy<Value = Graph> {
    (1..=40_usize).prop_flat_map(|count| {
        let size = (60..300, 26..400).prop_map(|(width, height)| Size { width, height });
        let label = (0..160, 0..40).prop_map(|(width, height)| Size { width, height });
        let line =
            (0..count, 0..count, label).prop_map(|(from, to, label)| Line { from, to, label });
        let boxes = prop::collection::vec(size, count);
        let lines = prop::collection::vec(line, 0..=2 * count);
        (boxes, lines).prop_map(|(boxes, lines)| Graph { boxes, lines })
    })
}

fn overlap(one: &Rect, other: &Rect) -> bool {
    one.left < other.left + other.width
        && other.left < one.left + one.width
        && one.top < other.top + other.height
        && other.top < one.top + one.height
}

fn is_within(rect: &Rect, size: Size) -> bool {
    rect.left >= 0
        && rect.top >= 0
        && rect.left + rect.width <= size.width
        && rect.top + rect.height <= size.height
}

/// Whether the point is on the right or the left side of the box.
fn is_on_side(point: Point, rect: &Rect, right: bool) -> bool {
    let x = rect.left + if right { rect.width } else { 0 };
    point.x == x && (rect.top..=rect.top + rect.height).contains(&point.y)
}

fn assert_lawful(graph: &Graph, layout: &Layout) {
    assert_eq!(layout.boxes.len(), graph.boxes.len());
    assert_eq!(layout.routes.len(), graph.lines.len());
    let labels = layout.routes.iter().map(|route| route.label);
    let rects: Vec<_> = layout.boxes.iter().copied().chain(labels).collect();
    for (number, one) in rects.iter().enumerate() {
        assert!(is_within(one, layout.size), "{one:?} {:?}", layout.size);
        for other in &rects[..number] {
            assert!(!overlap(one, other), "{one:?} {other:?}");
        }
    }
    for (size, rect) in graph.boxes.iter().zip(&layout.boxes) {
        assert!(rect.width >= size.width && rect.height >= size.height);
    }
    for (line, route) in graph.lines.iter().zip(&layout.routes) {
        let (from, to) = (&layout.boxes[line.from], &layout.boxes[line.to]);
        let (first, last) = if route.is_turned {
            (to, from)
        } else {
            (from, to)
        };
        assert_eq!(route.is_loop, line.from == line.to);
        assert!(is_on_side(route.points[0], first, true), "{route:?}");
        let end = *route.points.last().unwrap();
        assert!(is_on_side(end, last, route.is_loop), "{route:?} {last:?}");
        assert_eq!(route.points.len() % 2, 0);
        for stretch in route.points.chunks(2) {
            assert_eq!(stretch[0].y, stretch[1].y, "{route:?}");
        }
        for point in &route.points {
            assert!((0..=layout.size.width).contains(&point.x), "{route:?}");
            assert!((0..=layout.size.height).contains(&point.y), "{route:?}");
        }
    }
    let starts = layout
        .routes
        .iter()
        .filter_map(|route| route.points.first());
    let mut starts: Vec<_> = starts.map(|point| (point.x, point.y)).collect();
    let count = starts.len();
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), count, "two lines begin at one place");
}

proptest! {
    #[test]
    fn boxes_and_labels_are_apart_and_lines_end_at_boxes(graph in graphs()) {
        let placed = layout(&graph);
        assert_lawful(&graph, &placed);
        prop_assert_eq!(layout(&graph), placed);
    }
}

fn boxes(count: usize) -> Vec<Size> {
    vec![
        Size {
            width: 100,
            height: 60
        };
        count
    ]
}

fn line(from: usize, to: usize) -> Line {
    Line {
        from,
        to,
        label: Size {
            width: 50,
            height: 13,
        },
    }
}

#[test]
fn a_chain_of_boxes_is_a_row() {
    let graph = Graph {
        boxes: boxes(3),
        lines: vec![line(0, 1), line(1, 2)],
    };
    let placed = layout(&graph);
    let tops: Vec<_> = placed.boxes.iter().map(|it| it.top).collect();
    let lefts: Vec<_> = placed.boxes.iter().map(|it| it.left).collect();
    assert_eq!(tops, [MARGIN; 3]);
    assert!(lefts.is_sorted() && lefts[0] == MARGIN, "{lefts:?}");
}

#[test]
fn boxes_without_lines_stand_in_a_grid() {
    let graph = Graph {
        boxes: boxes(9),
        lines: Vec::new(),
    };
    let placed = layout(&graph);
    let mut tops: Vec<_> = placed.boxes.iter().map(|it| it.top).collect();
    tops.dedup();
    assert_eq!(tops.len(), 3, "{:?}", placed.boxes);
}

#[test]
fn nothing_is_placed_nowhere() {
    let placed = layout(&Graph::default());
    assert_eq!(placed.size.width, 2 * MARGIN);
    assert!(placed.boxes.is_empty() && placed.routes.is_empty());
}
