//! d
use geomi_refresh::policy::*;
use geomi_sim::refresh::trial::{run, Setup};
use geomi_sim::refresh::web::{ModelWeb};
fn main(){
  let edges=[0.0,1e-9,0.01,0.03,0.07,0.15,0.3,0.6,1.0,2.0,5.0,60.0];
  let bin=|r:f64| edges.iter().rposition(|e| r>=*e).unwrap();
  for name in ["optimal","greedy"] {
    let mut n=[0.0;12]; let mut v=[0.0;12]; let mut f=[0.0;12]; let mut early=[0.0;12];
    for t in 0..5 { let w=ModelWeb::Web.draw(1,t); let b=1.0/7.0*0.8;
      let p:Box<dyn Policy>= if name=="optimal" {Box::new(Optimal::new(w.pages.iter().map(|p|p.rate).collect()))} else {Box::new(Greedy::default())};
      let mut last=vec![0.0;w.pages.len()]; let mut fresh=vec![0.0;w.pages.len()];
      let mut vis=vec![0.0;w.pages.len()];let mut ev=vec![0.0;w.pages.len()];
      let mut settle=|pg:usize,now:f64,last:&mut Vec<f64>,fresh:&mut Vec<f64>|{ let c=&w.pages[pg].changes; let nx=c.get(c.partition_point(|x|*x<=last[pg])).copied().unwrap_or(1e9); fresh[pg]+=(nx.min(now)-last[pg].max(28.0)).max(0.0); last[pg]=now;};
      run(&w,p,Setup{budget:b,is_weighted:false},|m|{ settle(m.page as usize,m.time,&mut last,&mut fresh); if m.time>28.0 {vis[m.page as usize]+=1.0;} else {ev[m.page as usize]+=1.0;} });
      for i in 0..w.pages.len() { settle(i,84.0,&mut last,&mut fresh); let k=bin(w.pages[i].rate); n[k]+=1.0; v[k]+=vis[i]; f[k]+=fresh[i]/56.0; early[k]+=ev[i]; }
    }
    println!("{name}"); for k in 0..11 { println!("r>={:<6} pages {:5.1}% visits/56d {:6.2} early {:5.2} share of visits {:5.1}% fresh {:.3}  contributes {:.4}",edges[k],n[k]/60.0,v[k]/n[k],early[k]/n[k],v[k]/v.iter().sum::<f64>()*100.0,f[k]/n[k],f[k]/6000.0); }
  }
}
