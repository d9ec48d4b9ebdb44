package removal

import "encoding/json"

// relink finds the roots of what is left of the lineages.
func (r *removal) relink() error {
	roots, err := json.Marshal(r.roots)
	if err != nil {
		return err
	}
	st, err := r.Stmt("SELECT id, name, parent FROM session WHERE root IN (SELECT value FROM json_each(?)) ORDER BY id")
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(r.Ctx, string(roots))
	if err != nil {
		return err
	}
	var ids []int64
	names, parents := make(map[string]int64), make(map[int64]string)
	for rows.Next() {
		var id int64
		var name, parent string
		if err = rows.Scan(&id, &name, &parent); err != nil {
			break
		}
		ids = append(ids, id)
		names[name], parents[id] = id, parent
	}
	if err = firstOf(err, rows.Err(), rows.Close()); err != nil {
		return err
	}
	orphans := make(map[string]int64) // the first root among the children of one that went
	for _, id := range ids {
		root := rootOf(id, func(id int64) int64 { return names[parents[id]] })
		if parent := parents[root]; parent != "" && names[parent] == 0 {
			if orphans[parent] == 0 {
				orphans[parent] = root
			}
			root = orphans[parent]
		}
		if err := r.Reroot(id, root); err != nil {
			return err
		}
	}
	return nil
}

// rootOf follows parents up from id, 0 being no parent. A circle is one lineage,
// whoever asks.
func rootOf(id int64, parent func(int64) int64) int64 {
	seen := map[int64]bool{id: true}
	for {
		up := parent(id)
		if up == 0 {
			return id
		}
		if seen[up] {
			root := up
			for at := parent(up); at != up; at = parent(at) {
				root = min(root, at)
			}
			return root
		}
		seen[up] = true
		id = up
	}
}

// firstOf returns the first error that is one.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
